-- Requests, each once, with what they moved.
-- Grain: one request about a bucket, from the look-back to the end of the day.
-- Reads: object_requests.
-- Parameters: $from_us (start of the look-back), $end_us (end of the day).
WITH asked AS (
    SELECT
        *,
        epoch_us(event_at) AS event_us,
        source_format IN ('cloudtrail', 'gcs_audit') AS is_audit
    FROM object_requests
    WHERE
        bucket IS NOT NULL
        AND epoch_us(event_at) >= CAST($from_us AS BIGINT)
        AND epoch_us(event_at) < CAST($end_us AS BIGINT)
),

trail AS (
    SELECT provider, bucket, request_id, operation, key, MIN(principal) AS principal
    FROM asked
    WHERE is_audit AND request_id IS NOT NULL
    GROUP BY provider, bucket, request_id, operation, key
),

served AS (
    SELECT a.* REPLACE (COALESCE(a.principal, t.principal) AS principal)
    FROM asked AS a
    LEFT JOIN trail AS t
        ON a.provider = t.provider
        AND a.bucket = t.bucket
        AND a.request_id = t.request_id
        AND a.operation = t.operation
        AND a.key IS NOT DISTINCT FROM t.key
    WHERE NOT a.is_audit
),

logged_hours AS (
    SELECT DISTINCT provider, bucket, event_us // 3600000000 AS hour_number
    FROM served
),

paired AS (
    SELECT DISTINCT provider, bucket, request_id, operation, key
    FROM served
    WHERE request_id IS NOT NULL
),

only_in_trail AS (
    SELECT a.*
    FROM asked AS a
    LEFT JOIN logged_hours AS h
        ON a.provider = h.provider
        AND a.bucket = h.bucket
        AND a.event_us // 3600000000 = h.hour_number
    LEFT JOIN paired AS p
        ON a.provider = p.provider
        AND a.bucket = p.bucket
        AND a.request_id = p.request_id
        AND a.operation = p.operation
        AND a.key IS NOT DISTINCT FROM p.key
    WHERE a.is_audit AND h.bucket IS NULL AND p.bucket IS NULL
),

requests AS (
    SELECT * FROM served
    UNION ALL
    SELECT * FROM only_in_trail
),

answered AS (
    SELECT
        *,
        CASE
            WHEN status BETWEEN 200 AND 299 OR status = 304 THEN 'success'
            WHEN status IN (401, 403) THEN 'denied'
            WHEN status = 404 THEN 'not_found'
            WHEN status IN (429, 503) THEN 'throttled'
            WHEN status >= 400 THEN 'error'
            WHEN status IS NOT NULL THEN 'other'
            WHEN error IN ('AccessDenied', 'ExpiredToken', 'InvalidAccessKeyId') THEN 'denied'
            WHEN error IN ('NoSuchKey', 'NoSuchBucket') THEN 'not_found'
            WHEN error IN ('SlowDown', 'ServiceUnavailable') THEN 'throttled'
            WHEN error IS NOT NULL THEN 'error'
            WHEN is_audit THEN 'success'
            ELSE 'other'
        END AS outcome,
        part_number IS NOT NULL AS is_part,
        operation = 'write' AND upload_id IS NOT NULL AND part_number IS NULL AS is_completion,
        CASE
            WHEN operation IN ('read', 'list', 'other')
                THEN COALESCE(response_bytes, CASE WHEN source_format = 's3_access_log' THEN 0 END)
            WHEN operation <> 'write' THEN 0
            WHEN upload_id IS NOT NULL AND part_number IS NULL THEN 0
            WHEN request_bytes IS NOT NULL THEN request_bytes
            WHEN source_format = 's3_access_log' THEN object_size_bytes
        END AS moved_bytes,
        -- These formats stamp a request when it was answered, the others when it came.
        CASE
            WHEN source_format IN ('cloudtrail', 'gcs_usage', 'gcs_audit') THEN event_us
            ELSE event_us + CAST(
                ROUND(LEAST(GREATEST(COALESCE(duration_seconds, 0), 0), 604800) * 1000000) AS BIGINT
            )
        END AS answered_us,
        CASE provider WHEN 'gcs' THEN 'gs://' WHEN 'azure' THEN 'az://' ELSE 's3://' END
        || CASE WHEN provider = 'azure' AND bucket_owner IS NOT NULL THEN bucket_owner || '/'
            ELSE '' END
        || bucket AS bucket_id
    FROM requests
)

SELECT
    record_id,
    source_format,
    cluster,
    event_us,
    answered_us,
    provider,
    bucket,
    key,
    version_id,
    etag,
    operation,
    status,
    outcome,
    CASE WHEN outcome IN ('success', 'other') THEN NULL
        ELSE COALESCE(error, CAST(status AS VARCHAR)) END AS failure,
    moved_bytes,
    response_bytes,
    object_size_bytes,
    is_part,
    is_completion,
    operation = 'read'
    AND status = 200
    AND is_range IS NOT TRUE
    AND moved_bytes = object_size_bytes AS is_complete,
    client_address,
    principal,
    user_agent,
    app_id,
    bucket_region,
    endpoint,
    vpc_endpoint_id,
    duration_seconds,
    bucket_id,
    CASE WHEN key IS NULL THEN bucket_id ELSE bucket_id || '/' || key END AS path
FROM answered
