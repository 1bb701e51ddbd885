-- The most that all pods of a run can have sent, by their interfaces; null where one has no bound.
-- Grain: one run of which every pod has a counter.
-- Reads: pod_traffic (all days), run_pods, output_runs.
-- Parameters: $date.
SELECT
    p.run_uuid,
    CASE
        WHEN COUNT(*) = COUNT(t.max_bytes)
            THEN LEAST(SUM(t.max_bytes), 9223372036854775807)
    END AS max_bytes,
    MAX(epoch_us(t.window_start_at)) + 300000000 AS seen_until_us
FROM pod_traffic AS t
INNER JOIN run_pods AS p ON t.cluster = p.cluster AND t.pod_uid = p.pod_uid
INNER JOIN output_runs AS r ON p.run_uuid = r.run_uuid
WHERE t.direction = 'transmit' AND t.date <= CAST($date AS DATE)
GROUP BY p.run_uuid
HAVING COUNT(DISTINCT t.pod_uid) = MAX(r.pod_count)
