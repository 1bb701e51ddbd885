-- The stretches of pod_match_holders cut into buckets of half an hour, as pod_match_met asks them.
-- Grain: cluster of the key, address, bucket, stretch.
-- Reads: pod_match_holders.
SELECT
    *,
    UNNEST(RANGE(start_us // 1800000000, (end_us - 1) // 1800000000 + 1)) AS bucket
FROM pod_match_holders
