-- Region of each bucket, where a transfer's own requests do not tell it.
-- Grain: bucket_id.
-- Reads: transfer_matched, transfer_groups, bucket_patterns.
WITH told AS (
    SELECT
        g.bucket_id,
        MIN(g.bucket) AS bucket,
        CASE
            WHEN MIN(b.bucket_region) = MAX(b.bucket_region) THEN MIN(b.bucket_region)
        END AS region
    FROM transfer_matched AS b
    INNER JOIN transfer_groups AS g ON b.group_number = g.group_number
    GROUP BY g.bucket_id
),

stated AS (
    SELECT t.bucket_id, ARG_MIN(p.region, p.ordinal) AS region
    FROM told AS t
    INNER JOIN bucket_patterns AS p ON t.bucket GLOB p.pattern
    GROUP BY t.bucket_id
)

SELECT t.bucket_id, COALESCE(t.region, s.region) AS region
FROM told AS t
LEFT JOIN stated AS s ON t.bucket_id = s.bucket_id
