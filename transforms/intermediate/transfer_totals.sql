-- Bursts summed over the day.
-- Grain: one burst that has a request on the day.
-- Reads: transfer_bursts, container_output.
-- Parameters: $from_us (start of the look-back), $gap_us.
WITH placed AS (
    SELECT b.*, c.container, c.container_role, COALESCE(c.container_kind, 'none') AS container_kind
    FROM transfer_bursts AS b
    LEFT JOIN container_output AS c
        ON b.is_today AND b.pod_uid = c.item_id.pod_uid AND b.event_us = c.item_id.event_us
),

totals AS (
    SELECT
        group_number,
        is_complete,
        MIN(event_us) AS burst_us,
        MIN(event_us) FILTER (WHERE is_today) AS today_us,
        ARG_MIN(record_id, place) AS burst_record_id,
        ARG_MIN(record_id, place) FILTER (WHERE is_today) AS today_record_id,
        MAX(answered_us) FILTER (WHERE is_today) AS ended_us,
        CASE WHEN MIN(etag) = MAX(etag) THEN MIN(etag) END AS etag,
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
        ARG_MIN(failure, place) FILTER (WHERE is_today AND failure IS NOT NULL) AS first_error,
        SUM(moved_bytes) FILTER (WHERE is_today AND outcome = 'success') AS transferred_bytes,
        SUM(response_bytes) FILTER (WHERE is_today AND outcome <> 'success') AS error_bytes,
        -- Readers take a 304 off again, whatever its format logs for a body that it has not.
        COUNT(*) FILTER (
            WHERE is_today AND outcome = 'success' AND (moved_bytes IS NULL OR status = 304)
        ) AS unlogged_bytes_count,
        MIN(cluster) AS cluster,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MIN(pod_uid) AS pod_uid,
        MIN(node) AS node,
        MIN(run_uuid) AS run_uuid,
        MIN(attempt) AS attempt,
        MIN(match_kind) AS match_kind,
        MIN(candidate_pod_uids) AS candidate_pod_uids,
        -- A container is named if it was the only one that ran at each request.
        MIN(container) FILTER (WHERE is_today) AS container,
        MIN(container_role) FILTER (WHERE is_today) AS container_role,
        CASE
            WHEN BOOL_OR(container_kind = 'none') FILTER (WHERE is_today) THEN 'none'
            WHEN
                BOOL_OR(container_kind = 'several') FILTER (WHERE is_today)
                OR COUNT(DISTINCT container) FILTER (WHERE is_today) > 1
                THEN 'several'
            ELSE 'only_running'
        END AS container_kind,
        CASE
            WHEN MIN(bucket_region) = MAX(bucket_region) THEN MIN(bucket_region)
        END AS bucket_region,
        ARG_MIN(endpoint, place) FILTER (WHERE is_today AND endpoint IS NOT NULL) AS endpoint,
        ARG_MIN(vpc_endpoint_id, place) FILTER (WHERE is_today AND vpc_endpoint_id IS NOT NULL)
            AS vpc_endpoint_id,
        MAX(duration_seconds) FILTER (WHERE is_today) AS duration_seconds
    FROM placed
    GROUP BY group_number, holder, is_complete, burst_number
    HAVING BOOL_OR(is_today)
),

-- A burst that reaches back to the edge of the look-back may be older than anything seen.
opened AS (
    SELECT
        *,
        NOT is_complete
        AND burst_us < CAST($from_us AS BIGINT) + CAST($gap_us AS BIGINT) AS opened_before
    FROM totals
)

SELECT
    * EXCLUDE (burst_us, today_us, burst_record_id, today_record_id),
    CASE WHEN opened_before THEN today_us ELSE burst_us END AS began_us,
    CASE WHEN opened_before THEN today_record_id ELSE burst_record_id END AS first_record_id
FROM opened
