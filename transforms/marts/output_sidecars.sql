-- How the platform's sidecar, which uploads to the run's store, ended: in the run's last pod.
-- Grain: one run.
-- Reads: container_states, run_pods.
-- Parameters: $day_end.
SELECT
    p.run_uuid,
    CAST(ARG_MAX(c.exit_code, {
        'created': epoch_us(p.created_at), 'pod': p.pod_uid, 'seen': epoch_us(c.observed_at),
        'id': c.record_id
    }) AS BIGINT) AS exit_code,
    ARG_MAX(c.record_id, {
        'created': epoch_us(p.created_at), 'pod': p.pod_uid, 'seen': epoch_us(c.observed_at),
        'id': c.record_id
    }) AS record_id
FROM container_states AS c
INNER JOIN run_pods AS p ON c.cluster = p.cluster AND c.pod_uid = p.pod_uid
WHERE
    c.container = 'polyaxon-sidecar'
    AND c.exit_code IS NOT NULL
    AND c.observed_at <= CAST($day_end AS TIMESTAMPTZ)
GROUP BY p.run_uuid
