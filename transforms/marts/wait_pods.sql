-- Pods of whose stages something is to be told by what they tried, from a little before the first
-- (what failed then may be tried again within it) to the last.
-- Grain: one pod.
-- Reads: wait_stages.
SELECT
    cluster, pod_uid,
    MIN(start_us) - 600000000 AS start_us,
    MAX(end_us) AS end_us
FROM wait_stages
WHERE is_painted
GROUP BY cluster, pod_uid
