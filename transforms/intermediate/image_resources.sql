-- The resource id of each image that was pulled, and its registry by one name.
-- Grain: one pull on one day.
-- Reads: image_pulls.
WITH named AS (
    SELECT
        date, image_pull_id, image, image_digest,
        -- Older names of one registry (reference: distribution/reference, normalize.go).
        CASE
            WHEN LOWER(registry) IN ('index.docker.io', 'registry-1.docker.io') THEN 'docker.io'
            ELSE LOWER(registry)
        END AS registry,
        SPLIT_PART(image, '@', 1) AS name,
        SPLIT_PART(SPLIT_PART(image, '@', 1), '/', 1) AS head
    FROM image_pulls
),

parted AS (
    SELECT
        *,
        CASE
            WHEN name LIKE '%/%' AND (head LIKE '%.%' OR head LIKE '%:%' OR head = 'localhost')
                THEN SUBSTRING(name, LENGTH(head) + 2)
            ELSE name
        END AS path
    FROM named
),

tagged AS (
    SELECT
        *,
        REGEXP_REPLACE(path, ':[^/:]*$', '') AS repository,
        COALESCE(NULLIF(REGEXP_EXTRACT(path, ':([^/:]*)$', 1), ''), 'latest') AS tag
    FROM parted
)

SELECT
    date,
    image_pull_id,
    registry,
    'oci://' || registry || '/'
        || CASE
            WHEN registry = 'docker.io' AND repository NOT LIKE '%/%' THEN 'library/' ELSE ''
        END
        || repository
        || CASE WHEN image_digest IS NULL THEN ':' || tag ELSE '@' || image_digest END
        AS resource_id
FROM tagged
