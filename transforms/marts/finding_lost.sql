-- What runs waited for, over their lives up to the end of the day. The main container has the
-- sidecar's time while the pod uploads, once.
-- Grain: one run, cause and resource.
-- Reads: waits (all days), active_runs.
-- Parameters: $date.
SELECT
    w.run_uuid,
    w.cause,
    w.resource_id,
    SUM(w.duration_us) AS lost_us,
    CASE WHEN COUNT(*) = COUNT(w.gpu_us) THEN SUM(w.gpu_us) END AS lost_gpu_us,
    COUNT(*) AS part_count,
    ARG_MIN(w.first_error, {'us': epoch_us(w.start_at), 'id': w.wait_id})
        FILTER (WHERE w.first_error IS NOT NULL) AS first_error,
    MIN(w.start_at) AS first_at,
    MAX(w.end_at) AS last_at,
    MIN(w.wait_id, 10) AS wait_ids
FROM waits AS w
INNER JOIN active_runs AS r ON w.run_uuid = r.run_uuid
WHERE w.date <= CAST($date AS DATE) AND w.cause <> 'working'
    AND NOT (w.stage = 'upload' AND w.container_role IS NOT DISTINCT FROM 'sidecar')
GROUP BY w.run_uuid, w.cause, w.resource_id
