-- The pods of runs, as the newest day that has them knows them, with what accepts or fails them.
-- Grain: one pod.
-- Reads: pod_intervals (all days), active_runs.
-- Parameters: $date.
WITH newest AS (
    SELECT p.*, MAX(p.date) OVER (PARTITION BY p.cluster, p.pod_uid) AS newest_date
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
    MAX(gpu_count) AS gpu_count,
    BOOL_OR(COALESCE(phase = 'Failed', FALSE)) AS is_failed,
    MIN(created_at) AS created_at,
    BOOL_AND(end_at IS NOT NULL) AS is_ended,
    BOOL_OR(end_basis = 'last_seen') AS is_end_assumed,
    MAX(LIST_FILTER(labels, LAMBDA l: l.name = 'kueue.x-k8s.io/queue-name')[1].value) AS queue,
    MIN(pod_interval_id) AS evidence_id
FROM newest
WHERE date = newest_date
GROUP BY cluster, pod_uid
