-- transfer_bursts: the part of each burst that lies on the day, with what names the burst.
-- Grain: (provider, bucket, key, version, client, operation, burst).
-- Reads: transfer_requests.
-- Parameters: $span_start, $day_start (UTC), $gap_us.
WITH bursts AS (
    SELECT
        provider, bucket, key, version_id, operation, client_address, principal, user_agent,
        is_complete, burst_number,
        MIN(event_us) AS burst_us,
        ARG_MIN(record_id, (event_us, record_id)) AS burst_record_id,
        MAX(object_size_bytes) FILTER (WHERE is_completion) AS completed_bytes,
        MAX(object_size_bytes) FILTER (WHERE NOT is_part) AS whole_bytes,
        BOOL_OR(is_part) AS has_parts
    FROM transfer_requests
    GROUP BY ALL
),

today AS (
    SELECT
        provider, bucket, key, version_id, operation, client_address, principal, user_agent,
        is_complete, burst_number,
        MIN(event_us) AS start_us,
        MAX(end_us) AS end_us,
        ARG_MIN(record_id, (event_us, record_id)) AS day_record_id,
        ARG_MAX(etag, (event_us, record_id)) FILTER (WHERE etag IS NOT NULL) AS etag,
        ARG_MIN(app_id, (event_us, record_id)) FILTER (WHERE app_id IS NOT NULL) AS app_id,
        ARG_MIN(bucket_region, (event_us, record_id))
            FILTER (WHERE bucket_region IS NOT NULL) AS bucket_region,
        ARG_MIN(endpoint, (event_us, record_id)) FILTER (WHERE endpoint IS NOT NULL) AS endpoint,
        ARG_MIN(vpc_endpoint_id, (event_us, record_id))
            FILTER (WHERE vpc_endpoint_id IS NOT NULL) AS vpc_endpoint_id,
        MAX(duration_seconds) AS duration_seconds,
        COUNT(*) AS request_count,
        COUNT(*) FILTER (WHERE is_success) AS success_count,
        COUNT(*) FILTER (WHERE status = 304) AS not_modified_count,
        COUNT(*) FILTER (WHERE status IN (401, 403)) AS denied_count,
        COUNT(*) FILTER (WHERE status = 404) AS not_found_count,
        COUNT(*) FILTER (WHERE status IN (429, 503)) AS throttled_count,
        COUNT(*) FILTER (
            WHERE status >= 400 AND status NOT IN (401, 403, 404, 429, 503)
        ) AS error_count,
        ARG_MIN(COALESCE(error, CAST(status AS VARCHAR)), (event_us, record_id))
            FILTER (WHERE status >= 400) AS first_error,
        CAST(COALESCE(SUM(body_bytes) FILTER (WHERE is_success), 0) AS BIGINT)
            AS transferred_bytes,
        CAST(COALESCE(SUM(answer_bytes) FILTER (WHERE status >= 400), 0) AS BIGINT)
            AS error_bytes,
        COUNT(*) FILTER (
            WHERE is_success AND status <> 304 AND body_bytes IS NULL
        ) AS unlogged_bytes_count
    FROM transfer_requests
    WHERE event_us >= epoch_us($day_start)
    GROUP BY ALL
),

joined AS (
    SELECT
        t.*,
        b.burst_us,
        b.burst_record_id,
        CASE
            WHEN b.operation = 'write' AND b.has_parts THEN b.completed_bytes
            ELSE b.whole_bytes
        END AS object_size_bytes,
        -- What began before the look-back is not known; its rest starts anew at the day's edge.
        NOT t.is_complete
            AND b.burst_us < epoch_us($day_start)
            AND b.burst_us < epoch_us($span_start) + $gap_us AS opened_before
    FROM today AS t
    INNER JOIN bursts AS b
        ON t.provider = b.provider
        AND t.bucket = b.bucket
        AND t.key IS NOT DISTINCT FROM b.key
        AND t.version_id IS NOT DISTINCT FROM b.version_id
        AND t.operation = b.operation
        AND t.client_address IS NOT DISTINCT FROM b.client_address
        AND t.principal IS NOT DISTINCT FROM b.principal
        AND t.user_agent IS NOT DISTINCT FROM b.user_agent
        AND t.is_complete = b.is_complete
        AND t.burst_number = b.burst_number
)

SELECT
    * EXCLUDE (burst_record_id, burst_us),
    CASE WHEN opened_before THEN day_record_id ELSE burst_record_id END AS first_record_id,
    CASE WHEN opened_before THEN start_us ELSE burst_us END AS first_us,
    CASE provider WHEN 's3' THEN 's3' WHEN 'gcs' THEN 'gs' WHEN 'azure' THEN 'az' ELSE provider END
        || '://' || bucket || COALESCE('/' || key, '') AS object_path,
    CASE provider WHEN 's3' THEN 's3' WHEN 'gcs' THEN 'gs' WHEN 'azure' THEN 'az' ELSE provider END
        || '://' || bucket AS bucket_path,
    row_id([
        id_text(provider), id_text(bucket), id_text(key), id_text(version_id),
        id_text(client_address), id_text(principal), id_text(user_agent), id_text(operation),
        id_text(CASE WHEN opened_before THEN day_record_id ELSE burst_record_id END)
    ]) AS transfer_id
FROM joined
