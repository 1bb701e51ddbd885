-- Resource and dataset of each object that a run moved.
-- Grain: path, run (null: no run).
-- Reads: transfer_bursts, declared_dependencies, dataset_patterns.
WITH objects AS (
    SELECT DISTINCT path, run_uuid, bucket_id, STRING_SPLIT(path, '/') AS steps
    FROM transfer_bursts
),

declared AS (
    SELECT DISTINCT run_uuid, RTRIM(resource_id, '/') AS resource_id
    FROM declared_dependencies
    WHERE REGEXP_MATCHES(resource_id, '^(s3|gs|az)://[^/]')
),

depths AS (
    SELECT DISTINCT LEN(STRING_SPLIT(resource_id, '/')) AS depth
    FROM declared
),

-- Paths above an object as deep as declarations go: equality takes the place of prefix tests.
above AS (
    SELECT
        o.path,
        o.run_uuid,
        o.bucket_id,
        d.depth,
        ARRAY_TO_STRING(o.steps[1:d.depth], '/') AS resource_id
    FROM objects AS o
    INNER JOIN depths AS d ON d.depth <= LEN(o.steps)
),

found AS (
    SELECT
        a.path,
        a.run_uuid,
        a.resource_id,
        a.resource_id = a.bucket_id AS is_bucket,
        COALESCE(BOOL_OR(a.run_uuid = d.run_uuid), FALSE) AS is_own
    FROM above AS a
    INNER JOIN declared AS d USING (resource_id)
    GROUP BY a.path, a.run_uuid, a.bucket_id, a.depth, a.resource_id
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY a.path, a.run_uuid ORDER BY is_own DESC, a.depth DESC
    ) = 1
),

paths AS (
    SELECT DISTINCT path FROM objects
),

datasets AS (
    SELECT p.path, ARG_MIN(d.dataset_id, d.ordinal) AS dataset_id
    FROM paths AS p
    INNER JOIN dataset_patterns AS d ON p.path GLOB d.pattern
    GROUP BY p.path
)

SELECT
    o.path,
    o.run_uuid,
    CASE
        WHEN f.is_own OR NOT f.is_bucket THEN f.resource_id
        ELSE COALESCE(d.dataset_id, o.bucket_id)
    END AS resource_id,
    COALESCE(d.dataset_id, CASE WHEN NOT f.is_bucket THEN f.resource_id END) AS dataset_id
FROM objects AS o
LEFT JOIN found AS f ON o.path = f.path AND o.run_uuid IS NOT DISTINCT FROM f.run_uuid
LEFT JOIN datasets AS d ON o.path = d.path
