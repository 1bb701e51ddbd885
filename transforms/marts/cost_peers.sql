-- Where the fleet's own addresses stand, where all that held one on the day stood in one place.
-- Grain: one address.
-- Reads: pod_intervals.
-- Parameters: $date.
SELECT
    address,
    CASE WHEN COUNT(region) = COUNT(*) AND MIN(region) = MAX(region) THEN MIN(region) END AS region,
    CASE WHEN MIN(cluster) = MAX(cluster) THEN MIN(cluster) END AS cluster
FROM pod_intervals
WHERE date = CAST($date AS DATE) AND address IS NOT NULL
GROUP BY address
