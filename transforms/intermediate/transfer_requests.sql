-- transfer_requests: requests with the burst that each belongs to.
-- Grain: one request of object storage.
-- Reads: object_requests.
-- Parameters: $span_start, $day_end (UTC, half-open), $gap_us.
WITH requests AS (
    SELECT
        record_id,
        epoch_us(event_at) AS event_us,
        epoch_us(event_at)
            + COALESCE(CAST(ROUND(duration_seconds * 1000000) AS BIGINT), 0) AS end_us,
        provider,
        bucket,
        key,
        version_id,
        etag,
        operation,
        client_address,
        principal,
        user_agent,
        app_id,
        status,
        error,
        object_size_bytes,
        duration_seconds,
        bucket_region,
        endpoint,
        vpc_endpoint_id,
        part_number IS NOT NULL AS is_part,
        operation = 'write' AND upload_id IS NOT NULL AND part_number IS NULL AS is_completion,
        COALESCE(status BETWEEN 200 AND 299 OR status = 304, FALSE) AS is_success,
        CASE
            WHEN operation IN ('read', 'list', 'other') THEN response_bytes
            WHEN operation = 'write' AND upload_id IS NOT NULL AND part_number IS NULL THEN 0
            WHEN operation = 'write' THEN COALESCE(request_bytes, object_size_bytes)
            ELSE 0
        END AS body_bytes,
        COALESCE(response_bytes, 0) AS answer_bytes,
        COALESCE(
            operation = 'read' AND status = 200 AND response_bytes = object_size_bytes,
            FALSE
        ) AS is_complete
    FROM object_requests
    WHERE bucket IS NOT NULL AND event_at >= $span_start AND event_at < $day_end
),

spaced AS (
    SELECT
        *,
        COALESCE(
            event_us - LAG(event_us) OVER (
                PARTITION BY
                    provider, bucket, key, version_id, operation, client_address, principal,
                    user_agent, is_complete
                ORDER BY event_us, record_id
            ) > $gap_us,
            TRUE
        ) OR is_complete AS begins
    FROM requests
)

SELECT
    * EXCLUDE (begins),
    CAST(
        SUM(CASE WHEN begins THEN 1 ELSE 0 END) OVER (
            PARTITION BY
                provider, bucket, key, version_id, operation, client_address, principal,
                user_agent, is_complete
            ORDER BY event_us, record_id
        ) AS BIGINT
    ) AS burst_number
FROM spaced
