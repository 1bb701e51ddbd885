-- Image pulls of the day with the resource id of the image. Counts stand on the day on which a pull
-- began, bytes on the day on which it ended; an image that was present moved nothing.
-- Grain: one pull.
-- Reads: image_pulls.
-- Parameters: $date, $day_start, $day_end.
SELECT
    image_pull_id,
    cluster,
    run_uuid,
    attempt,
    pod_uid,
    image_resource(image, registry, image_digest) AS resource_id,
    image_registry(registry) AS endpoint,
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
    measured_by,
    min_transferred_bytes,
    max_transferred_bytes
FROM image_pulls
WHERE date = CAST($date AS DATE)
