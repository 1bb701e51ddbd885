-- What earlier days published of pods that this day shows or whose run it shows.
-- Grain: one row of an earlier day's pod_intervals.
-- Reads: pod_intervals (history), pod_interval_pods.
-- Parameters: $date, $cluster.
SELECT
    h.pod_uid, h.address, h.start_at, h.start_basis, h.created_at, h.end_at, h.date,
    h.run_uuid, h.attempt, h.replica_type, h.replica_index
FROM pod_intervals AS h
WHERE
    h.date < CAST($date AS DATE)
    AND h.cluster = $cluster
    AND (
        h.pod_uid IN (SELECT pod_uid FROM pod_interval_pods)
        OR h.run_uuid IN (SELECT run_uuid FROM pod_interval_pods WHERE run_uuid IS NOT NULL)
    )
