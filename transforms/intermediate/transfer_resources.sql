-- Resource and dataset of each object of the day.
-- Grain: bucket_id, path.
-- Reads: transfer_totals, transfer_groups, transfer_prefixes, declared_dependencies,
--   dataset_patterns.
WITH objects AS (
    SELECT DISTINCT g.bucket_id, g.path, STRING_SPLIT(g.path, '/') AS steps
    FROM transfer_totals AS t
    INNER JOIN transfer_groups AS g ON t.group_number = g.group_number
),

declared AS (
    SELECT DISTINCT
        RTRIM(resource_id, '/') AS resource_id,
        LEN(STRING_SPLIT(RTRIM(resource_id, '/'), '/')) AS depth
    FROM declared_dependencies
    WHERE REGEXP_MATCHES(resource_id, '^(s3|gs|az)://[^/]')
),

depths AS (
    SELECT DISTINCT depth FROM declared
),

-- Paths above an object as deep as declarations go: equality takes the place of prefix tests.
above AS (
    SELECT
        o.bucket_id, o.path, d.depth,
        ARRAY_TO_STRING(o.steps[1:d.depth], '/') AS resource_id
    FROM objects AS o
    INNER JOIN depths AS d ON d.depth <= LEN(o.steps)
),

longest AS (
    SELECT a.bucket_id, a.path, ARG_MAX(a.resource_id, a.depth) AS resource_id
    FROM above AS a
    INNER JOIN declared AS d ON a.resource_id = d.resource_id
    GROUP BY a.bucket_id, a.path
),

datasets AS (
    SELECT o.bucket_id, o.path, ARG_MIN(d.dataset_id, d.ordinal) AS dataset_id
    FROM objects AS o
    INNER JOIN dataset_patterns AS d ON o.path GLOB d.pattern
    GROUP BY o.bucket_id, o.path
)

SELECT
    o.bucket_id,
    o.path,
    COALESCE(l.resource_id, d.dataset_id, o.bucket_id) AS resource_id,
    COALESCE(
        CASE WHEN l.resource_id <> o.bucket_id THEN l.resource_id END, d.dataset_id, p.prefix
    ) AS dataset_id,
    CASE
        WHEN l.resource_id <> o.bucket_id THEN 'declared'
        WHEN d.dataset_id IS NOT NULL THEN 'settings'
        WHEN p.prefix IS NOT NULL THEN 'prefix'
    END AS dataset_basis
FROM objects AS o
LEFT JOIN longest AS l ON o.bucket_id = l.bucket_id AND o.path = l.path
LEFT JOIN datasets AS d ON o.bucket_id = d.bucket_id AND o.path = d.path
LEFT JOIN transfer_prefixes AS p ON o.bucket_id = p.bucket_id AND o.path = p.path
