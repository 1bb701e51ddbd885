-- What the container runtime's own log says of pulls: bytes that were read from registries, and the
-- image's size there. Its lines name no pod, so that a line counts for a pull if only that pull of
-- the image was under way on the node. The line that tells the bytes writes an image out
-- (`docker.io/library/app:1`), others as the pod does (`app:1`).
-- Grain: one pull of image_pull_merged with at least one line.
-- Reads: image_pull_merged, image_pull_logs.
-- Parameters: $cluster, $day_end, $guard_us.
WITH lines AS (
    SELECT
        node, event, epoch_us(event_at) AS event_us, transferred_bytes, image_bytes, record_id,
        image_resource(image, registry, NULLIF(SPLIT_PART(image, '@', 2), '')) AS asked
    FROM image_pull_logs
    WHERE
        cluster = $cluster
        AND node IS NOT NULL
        AND image IS NOT NULL
        AND event IN ('fetched', 'pulled')
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
),

pulls AS (
    SELECT
        pull_number, node, was_present, start_at, end_at,
        image_resource(image, registry, NULLIF(SPLIT_PART(image, '@', 2), '')) AS asked
    FROM image_pull_merged
),

met AS (
    SELECT
        m.pull_number,
        l.event, l.transferred_bytes, l.image_bytes,
        COUNT(*) OVER (PARTITION BY l.record_id) AS pull_count
    FROM lines AS l
    INNER JOIN pulls AS m
        ON l.node = m.node
        AND l.asked = m.asked
        AND NOT m.was_present
        AND l.event_us >= epoch_us(m.start_at) - CAST($guard_us AS BIGINT)
        AND l.event_us < epoch_us(COALESCE(m.end_at, CAST($day_end AS TIMESTAMPTZ)))
            + CAST($guard_us AS BIGINT)
)

SELECT
    pull_number,
    COUNT(*) FILTER (WHERE event = 'fetched') AS fetched_count,
    MAX(pull_count) > 1 AS is_shared,
    SUM(transferred_bytes) FILTER (WHERE event = 'fetched') AS fetched_bytes,
    CASE WHEN MIN(image_bytes) = MAX(image_bytes) THEN MIN(image_bytes) END AS image_bytes
FROM met
GROUP BY pull_number
