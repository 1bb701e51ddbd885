-- What applications say they saved in object storage: ends of saving checkpoints and of uploads.
-- Grain: one run and path.
-- Reads: stage_marks, run_pods, pod_intervals, output_runs.
-- Parameters: $day_end.
WITH names AS (
    SELECT cluster, namespace, pod_name, MIN(pod_uid) AS pod_uid
    FROM pod_intervals
    GROUP BY cluster, namespace, pod_name
    HAVING COUNT(DISTINCT pod_uid) = 1
),

told AS (
    SELECT
        COALESCE(m.run_uuid, p.run_uuid, q.run_uuid) AS run_uuid,
        RTRIM(m.resource, '/') AS resource_id,
        m.bytes,
        m.event_at,
        m.record_id
    FROM stage_marks AS m
    LEFT JOIN names AS n
        ON m.pod_uid IS NULL
        AND m.cluster = n.cluster
        AND m.namespace = n.namespace
        AND m.pod_name = n.pod_name
    LEFT JOIN run_pods AS p ON m.cluster = p.cluster AND m.pod_uid = p.pod_uid
    LEFT JOIN run_pods AS q ON n.cluster = q.cluster AND n.pod_uid = q.pod_uid
    WHERE
        m.phase = 'end'
        AND COALESCE(m.outcome, 'ok') = 'ok'
        AND REGEXP_MATCHES(m.activity, 'checkpoint_save|upload|model_save')
        AND REGEXP_MATCHES(m.resource, '^(s3|gs|az)://[^/]+/.')
        AND m.event_at < CAST($day_end AS TIMESTAMPTZ)
)

SELECT
    t.run_uuid,
    t.resource_id,
    MAX(epoch_us(t.event_at)) AS last_us,
    CAST(ARG_MAX(t.bytes, {'us': epoch_us(t.event_at), 'id': t.record_id}) AS BIGINT)
        AS stated_bytes,
    MIN(t.record_id, 10) AS record_ids
FROM told AS t
INNER JOIN output_runs AS r ON t.run_uuid = r.run_uuid
GROUP BY t.run_uuid, t.resource_id
