-- Region of each bucket, where a transfer's own requests do not tell it.
-- Grain: provider, bucket.
-- Reads: transfer_requests, bucket_patterns.
WITH told AS (
    SELECT
        provider,
        bucket,
        CASE WHEN MIN(bucket_region) = MAX(bucket_region) THEN MIN(bucket_region) END AS region
    FROM transfer_requests
    GROUP BY provider, bucket
),

stated AS (
    SELECT t.provider, t.bucket, ARG_MIN(p.region, p.ordinal) AS region
    FROM told AS t
    INNER JOIN bucket_patterns AS p ON t.bucket GLOB p.pattern
    GROUP BY t.provider, t.bucket
)

SELECT t.provider, t.bucket, COALESCE(t.region, s.region) AS region
FROM told AS t
LEFT JOIN stated AS s USING (provider, bucket)
