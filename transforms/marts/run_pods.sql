-- The pods of runs, as the newest day that has them knows them.
-- Grain: one pod.
-- Reads: pod_intervals (all days), active_runs.
-- Parameters: $date.
WITH rows_of_runs AS (
    SELECT
        p.*,
        MAX(p.date) OVER (PARTITION BY p.cluster, p.pod_uid) AS newest_date
    FROM pod_intervals AS p
    WHERE
        p.date <= CAST($date AS DATE)
        AND p.run_uuid IN (SELECT run_uuid FROM active_runs)
)

SELECT
    cluster,
    pod_uid,
    MAX(run_uuid) AS run_uuid,
    MAX(attempt) AS attempt,
    MAX(namespace) AS namespace,
    MAX(pod_name) AS pod_name,
    MAX(node) AS node,
    MAX(region) AS region,
    MAX(project) AS project,
    MAX(run_owner) AS run_owner,
    MAX(gpu_count) AS gpu_count,
    MAX(run_match_kind) AS run_match_kind,
    MIN(created_at) AS created_at,
    CASE WHEN COUNT(*) = COUNT(end_at) THEN MAX(end_at) END AS end_at,
    BOOL_OR(end_basis = 'last_seen') AS is_end_assumed,
    MAX(last_seen_at) AS last_seen_at,
    BOOL_OR(COALESCE(phase = 'Failed', FALSE)) AS is_failed,
    MAX(LIST_FILTER(labels, LAMBDA l: l.name = 'kueue.x-k8s.io/queue-name')[1].value) AS queue,
    MIN(pod_interval_id) AS evidence_id
FROM rows_of_runs
WHERE date = newest_date
GROUP BY cluster, pod_uid
