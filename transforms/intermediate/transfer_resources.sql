-- Resource and dataset of each object of the day, as each of its readers and writers names it.
-- Grain: bucket_id, path, run (null: none is known).
-- Reads: transfer_totals, transfer_groups, transfer_prefixes, declared_dependencies,
--   dataset_patterns.
WITH dealings AS (
    SELECT DISTINCT g.bucket_id, g.path, t.run_uuid
    FROM transfer_totals AS t
    INNER JOIN transfer_groups AS g ON t.group_number = g.group_number
),

objects AS (
    SELECT DISTINCT bucket_id, path, STRING_SPLIT(path, '/') AS steps FROM dealings
),

declared AS (
    SELECT DISTINCT
        run_uuid,
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

-- What a run itself declares above what it reads or writes, whatever others declare.
own AS (
    SELECT r.bucket_id, r.path, r.run_uuid, ARG_MAX(a.resource_id, a.depth) AS resource_id
    FROM dealings AS r
    INNER JOIN above AS a ON r.bucket_id = a.bucket_id AND r.path = a.path
    INNER JOIN declared AS d ON r.run_uuid = d.run_uuid AND a.resource_id = d.resource_id
    GROUP BY r.bucket_id, r.path, r.run_uuid
),

anyones AS (
    SELECT a.bucket_id, a.path, ARG_MAX(a.resource_id, a.depth) AS resource_id
    FROM above AS a
    WHERE a.resource_id IN (SELECT resource_id FROM declared)
    GROUP BY a.bucket_id, a.path
),

datasets AS (
    SELECT o.bucket_id, o.path, ARG_MIN(d.dataset_id, d.ordinal) AS dataset_id
    FROM objects AS o
    INNER JOIN dataset_patterns AS d ON o.path GLOB d.pattern
    GROUP BY o.bucket_id, o.path
),

named AS (
    SELECT
        r.bucket_id,
        r.path,
        r.run_uuid,
        COALESCE(w.resource_id, l.resource_id) AS declared_id,
        d.dataset_id,
        p.prefix
    FROM dealings AS r
    LEFT JOIN own AS w
        ON r.bucket_id = w.bucket_id AND r.path = w.path AND r.run_uuid = w.run_uuid
    LEFT JOIN anyones AS l ON r.bucket_id = l.bucket_id AND r.path = l.path
    LEFT JOIN datasets AS d ON r.bucket_id = d.bucket_id AND r.path = d.path
    LEFT JOIN transfer_prefixes AS p ON r.bucket_id = p.bucket_id AND r.path = p.path
)

SELECT
    bucket_id,
    path,
    run_uuid,
    COALESCE(declared_id, dataset_id, bucket_id) AS resource_id,
    COALESCE(NULLIF(declared_id, bucket_id), dataset_id, prefix) AS dataset_id,
    CASE
        WHEN declared_id <> bucket_id THEN 'declared'
        WHEN dataset_id IS NOT NULL THEN 'settings'
        WHEN prefix IS NOT NULL THEN 'prefix'
    END AS dataset_basis
FROM named
