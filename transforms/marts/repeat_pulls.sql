-- Image pulls of the look-back as fetches. An image is known by its digest; a tag may come to name
-- another image, so that a pull by tag alone is a contact with the registry.
-- Grain: one pull and day.
-- Reads: image_pulls (days of the look-back).
-- Parameters: $look_back_start.
SELECT
    date,
    image_pull_id AS transfer_id,
    start_at,
    image_resource(image, registry, image_digest) AS object_id,
    image_repository(image, registry) AS dataset_id,
    CASE WHEN image_digest IS NULL THEN 'endpoint' ELSE 'object' END AS grade,
    cluster,
    node,
    run_uuid,
    attempt,
    CASE WHEN pod_uid IS NULL THEN 'none' ELSE 'uid' END AS match_kind,
    reader_zone,
    reader_region,
    -- Of a pull that has not ended nothing is known yet, but that it began.
    end_at IS NOT NULL AND COALESCE(max_transferred_bytes > 0, TRUE) AS has_moved,
    CASE
        WHEN min_transferred_bytes = max_transferred_bytes THEN max_transferred_bytes
    END AS transferred_bytes,
    min_transferred_bytes AS min_bytes,
    max_transferred_bytes AS max_bytes,
    CASE WHEN image_digest IS NOT NULL THEN image_bytes END AS size_bytes,
    measured_by
FROM image_pulls
WHERE
    NOT was_present
    AND date >= CAST($look_back_start AS DATE)
