-- Region of each pod's node.
-- Grain: one pod.
-- Reads: pod_intervals.
-- Parameters: $date.
SELECT
    cluster,
    pod_uid,
    CASE WHEN COUNT(DISTINCT region) = 1 THEN MIN(region) END AS region
FROM pod_intervals
WHERE date = CAST($date AS DATE)
GROUP BY cluster, pod_uid
