-- Numbers of bursts over the day, and in which request each of their texts stands.
-- Grain: one burst that has a request on the day.
-- Reads: transfer_matched, transfer_bursts, container_output.
-- Sums of fixed size only: the engine can spill those, and not texts that an aggregate holds.
-- Whether texts differ is told by a digest.
WITH placed AS (
    SELECT
        b.number, b.burst_number, b.place,
        m.group_number, m.holder, m.is_complete, m.is_change, m.event_us, m.answered_us, m.is_today,
        m.outcome, m.status, m.moved_bytes, m.object_size_bytes, m.duration_seconds,
        m.outcome = 'success' AND COALESCE(m.moved_bytes > 0, TRUE) AS has_moved,
        m.offset_bytes IS NOT NULL AS has_offset,
        md5_number(m.etag) AS etag_digest,
        md5_number(m.bucket_region) AS region_digest,
        md5_number(c.container) AS container_digest,
        COALESCE(c.container_kind, 'none') = 'none' AS has_no_container,
        COALESCE(c.container_kind = 'several', FALSE) AS has_several_containers,
        m.failure IS NOT NULL AS has_failure,
        m.endpoint IS NOT NULL AS has_endpoint,
        m.vpc_endpoint_id IS NOT NULL AS has_vpc_endpoint
    FROM transfer_matched AS m
    INNER JOIN transfer_bursts AS b ON m.rowid = b.number
    LEFT JOIN container_output AS c
        ON m.is_today AND m.pod_uid = c.item_id.pod_uid AND m.event_us = c.item_id.event_us
)

SELECT
    group_number,
    holder,
    is_complete,
    burst_number,
    COUNT(*) FILTER (WHERE is_today AND is_change) AS change_count,
    MIN(answered_us) FILTER (WHERE is_today AND is_change) AS first_changed_us,
    MAX(answered_us) FILTER (WHERE is_today AND is_change) AS last_changed_us,
    MIN(event_us) AS burst_us,
    MIN(event_us) FILTER (WHERE is_today) AS today_us,
    ARG_MIN(number, place) AS first_number,
    ARG_MIN(number, place) FILTER (WHERE is_today) AS today_number,
    MAX(answered_us) FILTER (WHERE is_today) AS ended_us,
    -- Sizes that differ are of several contents under one name.
    CASE
        WHEN MIN(object_size_bytes) = MAX(object_size_bytes) THEN MIN(object_size_bytes)
    END AS object_size_bytes,
    COUNT(*) FILTER (WHERE is_today) AS request_count,
    COUNT(*) FILTER (WHERE is_today AND outcome = 'success') AS success_count,
    COUNT(*) FILTER (WHERE is_today AND status = 304) AS not_modified_count,
    COUNT(*) FILTER (WHERE is_today AND outcome = 'denied') AS denied_count,
    COUNT(*) FILTER (WHERE is_today AND outcome = 'not_found') AS not_found_count,
    COUNT(*) FILTER (WHERE is_today AND outcome = 'throttled') AS throttled_count,
    COUNT(*) FILTER (WHERE is_today AND outcome = 'error') AS error_count,
    SUM(moved_bytes) FILTER (WHERE is_today AND outcome = 'success') AS transferred_bytes,
    SUM(moved_bytes) FILTER (WHERE is_today AND outcome <> 'success') AS error_bytes,
    -- Readers take a 304 off again, whatever its format logs for a body that it has not.
    COUNT(*) FILTER (
        WHERE is_today AND outcome = 'success' AND (moved_bytes IS NULL OR status = 304)
    ) AS unlogged_bytes_count,
    -- Whether every byte of the day has its place in one content.
    COALESCE(BOOL_AND(has_offset) FILTER (WHERE is_today AND has_moved), FALSE)
    AND NOT is_complete
    AND MIN(object_size_bytes) IS NOT DISTINCT FROM MAX(object_size_bytes)
    AND MIN(etag_digest) IS NOT DISTINCT FROM MAX(etag_digest) AS has_ranges,
    MAX(duration_seconds) FILTER (WHERE is_today) AS duration_seconds,
    CASE
        WHEN MIN(etag_digest) = MAX(etag_digest)
            THEN ARG_MIN(number, place) FILTER (WHERE etag_digest IS NOT NULL)
    END AS etag_number,
    CASE
        WHEN MIN(region_digest) = MAX(region_digest)
            THEN ARG_MIN(number, place) FILTER (WHERE region_digest IS NOT NULL)
    END AS region_number,
    ARG_MIN(number, place) FILTER (WHERE is_today AND has_failure) AS failure_number,
    ARG_MIN(number, place) FILTER (WHERE is_today AND has_endpoint) AS endpoint_number,
    ARG_MIN(number, place) FILTER (WHERE is_today AND has_vpc_endpoint) AS vpc_number,
    -- A container is named if it was the only one that ran at each request.
    CASE
        WHEN BOOL_OR(has_no_container) FILTER (WHERE is_today) THEN 'none'
        WHEN
            BOOL_OR(has_several_containers) FILTER (WHERE is_today)
            OR MIN(container_digest) FILTER (WHERE is_today)
            < MAX(container_digest) FILTER (WHERE is_today)
            THEN 'several'
        ELSE 'only_running'
    END AS container_kind
FROM placed
GROUP BY group_number, holder, is_complete, burst_number
HAVING BOOL_OR(is_today)
