-- transfer_resources: declared path, dataset and bucket region of every object moved.
-- Grain: (object_path).
-- Reads: transfer_bursts, declared_dependencies, setting_datasets, setting_buckets.
-- Parameters: none.
WITH objects AS (
    SELECT DISTINCT object_path, bucket_path, bucket
    FROM transfer_bursts
),

declared AS (
    SELECT DISTINCT
        RTRIM(resource_id, '/') AS declared_path,
        regexp_extract(resource_id, '^[a-z0-9]+://[^/]+') AS bucket_path
    FROM declared_dependencies
    WHERE resource_id LIKE 's3://%' OR resource_id LIKE 'gs://%' OR resource_id LIKE 'az://%'
),

declared_match AS (
    SELECT
        o.object_path,
        ARG_MAX(d.declared_path, (LENGTH(d.declared_path), d.declared_path)) AS declared_path
    FROM objects AS o
    INNER JOIN declared AS d
        ON o.bucket_path = d.bucket_path
        AND (
            o.object_path = d.declared_path
            OR starts_with(o.object_path, d.declared_path || '/')
        )
    GROUP BY o.object_path
),

dataset_match AS (
    SELECT o.object_path, ARG_MIN(s.dataset_id, s.ordinal) AS dataset_id
    FROM objects AS o
    INNER JOIN setting_datasets AS s ON o.object_path GLOB s.pattern
    GROUP BY o.object_path
),

bucket_match AS (
    SELECT b.bucket, ARG_MIN(s.region, s.ordinal) AS region
    FROM (SELECT DISTINCT bucket FROM objects) AS b
    INNER JOIN setting_buckets AS s ON b.bucket GLOB s.pattern
    GROUP BY b.bucket
)

SELECT
    o.object_path,
    COALESCE(d.declared_path, s.dataset_id, o.bucket_path) AS resource_id,
    COALESCE(
        s.dataset_id,
        CASE WHEN d.declared_path <> o.bucket_path THEN d.declared_path END
    ) AS dataset_id,
    b.region AS setting_region
FROM objects AS o
LEFT JOIN declared_match AS d ON o.object_path = d.object_path
LEFT JOIN dataset_match AS s ON o.object_path = s.object_path
LEFT JOIN bucket_match AS b ON o.bucket = b.bucket
