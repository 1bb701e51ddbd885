-- Failures that applications logged within an activity, each until the activity's next mark.
-- Grain: one mark of a failure.
-- Reads: stage_marks, attempt_pods, pod_intervals.
-- Parameters: $date.
WITH names AS (
    SELECT cluster, namespace, pod_name, MIN(pod_uid) AS pod_uid
    FROM pod_intervals
    WHERE date = CAST($date AS DATE)
    GROUP BY cluster, namespace, pod_name
    HAVING COUNT(DISTINCT pod_uid) = 1
),

known AS (
    SELECT
        COALESCE(m.cluster, n.cluster) AS cluster,
        COALESCE(m.pod_uid, n.pod_uid) AS pod_uid,
        m.container, m.activity, m.phase, m.resource, m.outcome, m.status, m.error_type,
        m.record_id, m.row_index,
        epoch_us(m.event_at) AS us
    FROM stage_marks AS m
    LEFT JOIN names AS n
        ON m.pod_uid IS NULL
        AND m.namespace = n.namespace AND m.pod_name = n.pod_name
        AND COALESCE(m.cluster, n.cluster) = n.cluster
),

followed AS (
    SELECT
        *,
        LEAD(us) OVER (
            PARTITION BY cluster, pod_uid, container, activity ORDER BY us, record_id, row_index
        ) AS next_us
    FROM known
)

SELECT
    p.cluster, p.pod_uid, f.container,
    CAST(NULL AS VARCHAR) AS container_role,
    CASE WHEN f.container IS NULL THEN 'none' ELSE 'socket' END AS container_kind,
    'name_window' AS match_kind,
    f.resource AS resource_id,
    CASE WHEN f.status IN (401, 403) THEN 0 WHEN f.status IN (429, 503) THEN 1 ELSE 2 END AS rank,
    CASE WHEN f.status IN (401, 403) THEN 'denied' WHEN f.status IN (429, 503) THEN 'throttled'
        ELSE 'retry' END AS cause,
    f.us AS start_us,
    f.next_us AS end_us,
    COALESCE(f.error_type, CAST(f.status AS VARCHAR)) AS error,
    f.record_id AS evidence_id,
    'stage_marks' AS source
FROM followed AS f
INNER JOIN attempt_pods AS p ON f.pod_uid = p.pod_uid AND COALESCE(f.cluster, p.cluster) = p.cluster
WHERE f.phase = 'point' AND f.outcome IN ('retry', 'error') AND f.next_us IS NOT NULL
