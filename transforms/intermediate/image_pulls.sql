-- Pulls with what they moved, and the place of the node.
-- Grain: one pull that the day touches.
-- Reads: image_pull_merged, image_pull_logged, image_pull_requests, node_places, agreed_regions.
-- Parameters: $cluster.
WITH bounded AS (
    SELECT
        m.*,
        COALESCE(m.image_bytes, l.image_bytes) AS size_bytes,
        CASE
            -- The runtime's line tells what one attempt read, to the byte.
            WHEN m.was_present AND NOT m.has_failed THEN 'image_size'
            WHEN l.fetched_count > 0 AND NOT l.is_shared THEN 'application_log'
            WHEN r.sent_bytes > 0 AND NOT r.is_shared THEN 'registry_log'
            WHEN m.is_single AND COALESCE(m.image_bytes, l.image_bytes) IS NOT NULL
                THEN 'image_size'
            ELSE 'none'
        END AS measured_by,
        COALESCE(l.fetched_count >= GREATEST(m.attempt_count, 1), FALSE) AS is_fully_logged,
        l.fetched_bytes,
        r.sent_bytes,
        COALESCE(r.has_manifest AND NOT r.is_elsewhere, FALSE) AS is_fully_sent,
        CASE WHEN NOT r.is_shared THEN r.blob_count END AS blob_count
    FROM image_pull_merged AS m
    LEFT JOIN image_pull_logged AS l ON m.pull_number = l.pull_number
    LEFT JOIN image_pull_requests AS r ON m.pull_number = r.pull_number
),

measured AS (
    SELECT
        *,
        in_64_bits(CASE measured_by
            WHEN 'application_log' THEN fetched_bytes
            WHEN 'registry_log' THEN sent_bytes
            ELSE 0
        END) AS min_bytes,
        in_64_bits(CASE
            WHEN was_present AND NOT has_failed THEN 0
            WHEN measured_by = 'application_log' AND is_fully_logged THEN fetched_bytes
            WHEN measured_by = 'registry_log' AND is_fully_sent AND end_at IS NOT NULL
                THEN sent_bytes
            -- One pull moves no more than the image, whose size is stated compressed or unpacked; a
            -- failed one, or one that is not finished, may have moved any part of it.
            WHEN is_single AND size_bytes IS NOT NULL
                THEN GREATEST(
                    size_bytes,
                    CASE measured_by
                        WHEN 'application_log' THEN fetched_bytes WHEN 'registry_log' THEN sent_bytes
                        ELSE 0
                    END
                )
        END) AS max_bytes
    FROM bounded
)

SELECT
    row_id([
        id_text($cluster), id_text(m.namespace), id_text(m.pod_name), id_text(m.pod_uid),
        id_text(m.container), id_text(m.image), id_time(m.start_at)
    ]) AS image_pull_id,
    CAST($cluster AS VARCHAR) AS cluster,
    m.namespace,
    m.pod_name,
    m.node,
    m.pod_uid,
    m.container,
    m.start_at,
    m.run_uuid,
    m.attempt,
    m.image,
    m.image_digest,
    m.registry,
    m.end_at,
    CAST(m.stated_us AS DOUBLE) / 1000000 AS pulling_seconds,
    CASE
        WHEN m.including_waiting_us >= m.stated_us
            THEN CAST(m.including_waiting_us - m.stated_us AS DOUBLE) / 1000000
    END AS waiting_seconds,
    m.size_bytes AS image_bytes,
    m.min_bytes AS min_transferred_bytes,
    m.max_bytes AS max_transferred_bytes,
    CASE
        WHEN m.min_bytes = m.max_bytes AND NOT m.was_present AND m.max_bytes <= m.size_bytes
            THEN m.size_bytes - m.max_bytes
    END AS shared_bytes,
    m.blob_count AS fetched_blob_count,
    m.measured_by,
    m.was_present,
    m.attempt_count,
    COALESCE(
        NULLIF(REGEXP_REPLACE(m.error_message, '^Failed to pull image "[^"]*": |^Error: ', ''), ''),
        m.error_message
    ) AS error,
    m.error_count,
    p.zone AS reader_zone,
    COALESCE(p.region, g.region) AS reader_region
FROM measured AS m
LEFT JOIN node_places AS p ON p.cluster = $cluster AND m.node = p.node
LEFT JOIN agreed_regions AS g ON g.cluster = $cluster
