-- Image pulls of the day with the resource id of the image. Counts stand on the day on which a pull
-- began, bytes on the day on which it ended; an image that was present moved nothing.
-- Grain: one pull.
-- Reads: image_pulls.
-- Parameters: $date, $day_start, $day_end.
WITH today AS (
    SELECT
        * EXCLUDE (registry),
        -- Older names of one registry (reference: distribution/reference, normalize.go).
        CASE
            WHEN LOWER(registry) IN ('index.docker.io', 'registry-1.docker.io') THEN 'docker.io'
            ELSE LOWER(registry)
        END AS registry,
        SPLIT_PART(image, '@', 1) AS name,
        SPLIT_PART(SPLIT_PART(image, '@', 1), '/', 1) AS head
    FROM image_pulls
    WHERE date = CAST($date AS DATE)
),

parted AS (
    SELECT
        *,
        CASE
            WHEN name LIKE '%/%' AND (head LIKE '%.%' OR head LIKE '%:%' OR head = 'localhost')
                THEN SUBSTRING(name, LENGTH(head) + 2)
            ELSE name
        END AS path
    FROM today
),

tagged AS (
    SELECT
        *,
        REGEXP_REPLACE(path, ':[^/:]*$', '') AS repository,
        COALESCE(NULLIF(REGEXP_EXTRACT(path, ':([^/:]*)$', 1), ''), 'latest') AS tag
    FROM parted
)

SELECT
    image_pull_id,
    cluster,
    run_uuid,
    attempt,
    pod_uid,
    'oci://' || registry || '/'
        || CASE
            WHEN registry = 'docker.io' AND repository NOT LIKE '%/%' THEN 'library/' ELSE ''
        END
        || repository
        || CASE WHEN image_digest IS NULL THEN ':' || tag ELSE '@' || image_digest END
        AS resource_id,
    registry AS endpoint,
    GREATEST(start_at, CAST($day_start AS TIMESTAMPTZ)) AS first_at,
    LEAST(
        COALESCE(
            end_at, CASE WHEN was_present THEN start_at ELSE CAST($day_end AS TIMESTAMPTZ) END
        ),
        CAST($day_end AS TIMESTAMPTZ)
    ) AS last_at,
    start_at >= CAST($day_start AS TIMESTAMPTZ) AS is_started,
    attempt_count,
    error_count,
    error,
    (was_present OR end_at IS NOT NULL)
    AND (max_transferred_bytes IS NOT NULL OR min_transferred_bytes > 0) AS has_bytes,
    min_transferred_bytes,
    max_transferred_bytes
FROM tagged
