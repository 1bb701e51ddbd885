-- The stretches of pod_match_holders cut into buckets of time.
-- Grain: cluster of the key, address, bucket, stretch.
-- Reads: pod_match_holders.
-- Parameters: $bucket_us.
SELECT
    *,
    UNNEST(
        RANGE(
            start_us // CAST($bucket_us AS BIGINT),
            (end_us - 1) // CAST($bucket_us AS BIGINT) + 1
        )
    ) AS bucket
FROM pod_match_holders
