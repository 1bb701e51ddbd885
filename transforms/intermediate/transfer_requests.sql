-- Requests, each once, with what they moved.
-- Grain: one request about a bucket, from the look-back to the end of the day.
-- Reads: object_requests, transfer_bounds, transfer_agents, transfer_google.
-- Not materialized: all but one of its readers need few columns or few rows.
WITH staged AS NOT MATERIALIZED (
    SELECT
        record_id, record_index, row_index, export_file_id, source_format, cluster,
        epoch_us(event_at) AS event_us,
        source_format IN ('cloudtrail', 'gcs_audit') AS is_audit,
        provider, bucket_owner, bucket, key, version_id, etag, operation, operation_name, status,
        error, response_bytes, response_offset_bytes, request_bytes, object_size_bytes,
        duration_seconds, client_address,
        principal, session_arn, access_key_id_hash, user_agent, app_id, request_id, upload_id,
        part_number, bucket_region, endpoint, vpc_endpoint_id
    FROM object_requests
    CROSS JOIN transfer_bounds AS b
    WHERE
        bucket IS NOT NULL
        AND epoch_us(event_at) >= b.from_us
        AND epoch_us(event_at) < b.end_us
),

-- One record may be staged in several scopes, as where two exports show one bucket's log.
copied AS (
    SELECT source_format, record_id, row_index
    FROM staged
    GROUP BY source_format, record_id, row_index
    HAVING COUNT(*) > 1
),

copies AS (
    SELECT
        s.export_file_id, s.record_index, s.row_index,
        ROW_NUMBER() OVER (
            PARTITION BY s.source_format, s.record_id, s.row_index
            ORDER BY s.cluster NULLS FIRST, s.export_file_id, s.record_index
        ) AS copy_number
    FROM staged AS s
    INNER JOIN copied AS c
        ON s.source_format = c.source_format
        AND s.record_id = c.record_id
        AND s.row_index = c.row_index
),

asked AS (
    SELECT s.* EXCLUDE (export_file_id, record_index, row_index)
    FROM staged AS s
    LEFT JOIN copies AS c
        ON s.export_file_id = c.export_file_id
        AND s.record_index = c.record_index
        AND s.row_index = c.row_index
        AND c.copy_number > 1
    WHERE c.copy_number IS NULL
),

trail AS (
    SELECT
        provider, bucket, request_id, operation, key,
        CASE WHEN MIN(principal) = MAX(principal) THEN MIN(principal) END AS principal,
        CASE WHEN MIN(session_arn) = MAX(session_arn) THEN MIN(session_arn) END AS session_arn,
        CASE
            WHEN MIN(access_key_id_hash) = MAX(access_key_id_hash) THEN MIN(access_key_id_hash)
        END AS access_key_id_hash
    FROM staged
    WHERE is_audit AND request_id IS NOT NULL
    GROUP BY provider, bucket, request_id, operation, key
),

logged_hours AS (
    SELECT DISTINCT provider, bucket, event_us // 3600000000 AS hour_number
    FROM staged
    WHERE NOT is_audit
),

paired AS (
    SELECT DISTINCT t.provider, t.bucket, t.request_id, t.operation, t.key
    FROM staged AS s
    INNER JOIN trail AS t
        ON s.provider = t.provider
        AND s.bucket = t.bucket
        AND s.request_id = t.request_id
        AND s.operation = t.operation
        AND s.key IS NOT DISTINCT FROM t.key
    WHERE NOT s.is_audit
),

-- What the audit trail adds to a record of the usage log, and which of its own it thereby tells.
google AS (
    SELECT
        'gcs_usage' AS source_format, record_id, principal, access_key_id_hash, FALSE AS is_told
    FROM transfer_google
    UNION ALL
    SELECT 'gcs_audit', trail_id, NULL, NULL, TRUE FROM transfer_google WHERE trail_id IS NOT NULL
),

requests AS (
    SELECT
        a.* REPLACE (
            COALESCE(a.principal, t.principal, g.principal) AS principal,
            COALESCE(t.session_arn, a.session_arn) AS session_arn,
            COALESCE(t.access_key_id_hash, a.access_key_id_hash, g.access_key_id_hash)
                AS access_key_id_hash
        )
    FROM asked AS a
    LEFT JOIN trail AS t
        ON NOT a.is_audit
        AND a.provider = t.provider
        AND a.bucket = t.bucket
        AND a.request_id = t.request_id
        AND a.operation = t.operation
        AND a.key IS NOT DISTINCT FROM t.key
    LEFT JOIN paired AS p
        ON a.is_audit
        AND a.provider = p.provider
        AND a.bucket = p.bucket
        AND a.request_id = p.request_id
        AND a.operation = p.operation
        AND a.key IS NOT DISTINCT FROM p.key
    LEFT JOIN logged_hours AS h
        ON a.is_audit
        AND a.provider = h.provider
        AND a.bucket = h.bucket
        AND a.event_us // 3600000000 = h.hour_number
    LEFT JOIN google AS g ON a.source_format = g.source_format AND a.record_id = g.record_id
    WHERE p.request_id IS NULL AND h.hour_number IS NULL AND NOT COALESCE(g.is_told, FALSE)
),

kinds AS (
    SELECT
        *,
        operation IN ('write', 'copy')
        AND (part_number IS NOT NULL OR operation_name IN ('REST.PUT.PART', 'UploadPart'))
            AS is_part,
        operation = 'write'
        AND part_number IS NULL
        AND operation_name NOT IN ('REST.PUT.PART', 'UploadPart')
        AND (
            upload_id IS NOT NULL
            OR operation_name IN ('REST.POST.UPLOAD', 'CompleteMultipartUpload')
        ) AS is_completion,
        -- Of a copy the log of its source shows a record as well; blocks are no content yet.
        LOWER(operation_name) IN (
            'rest.copy.object_get', 'rest.copy.part_get', 'copyblobsource', 'storage.objects.get',
            'rest.copy.part', 'uploadpartcopy', 'copyobjectpart', 'putblock', 'putblockfromurl'
        ) AS is_beside
    FROM requests
),

answered AS (
    SELECT
        *,
        CASE
            WHEN status BETWEEN 200 AND 299 OR status = 304 THEN 'success'
            WHEN status IN (401, 403) THEN 'denied'
            -- S3 answers so where credentials are expired or were never good.
            WHEN status = 400 AND error IN ('ExpiredToken', 'InvalidToken', 'TokenRefreshRequired')
                THEN 'denied'
            WHEN status = 404 THEN 'not_found'
            WHEN status IN (429, 503) THEN 'throttled'
            WHEN status >= 400 THEN 'error'
            WHEN status IS NOT NULL THEN 'other'
            WHEN error IN (
                'AccessDenied', 'ExpiredToken', 'InvalidAccessKeyId', 'PERMISSION_DENIED',
                'UNAUTHENTICATED'
            ) THEN 'denied'
            WHEN error IN ('NoSuchKey', 'NoSuchBucket', 'NOT_FOUND') THEN 'not_found'
            WHEN error IN (
                'SlowDown', 'ServiceUnavailable', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE'
            ) THEN 'throttled'
            WHEN error IS NOT NULL THEN 'error'
            WHEN is_audit THEN 'success'
            ELSE 'other'
        END AS outcome,
        CASE
            -- A 304 has no body, whatever is logged for it.
            WHEN status = 304 THEN 0
            WHEN operation IN ('read', 'list', 'other')
                THEN COALESCE(response_bytes, CASE WHEN source_format = 's3_access_log' THEN 0 END)
            WHEN operation <> 'write' OR is_completion THEN 0
            WHEN request_bytes IS NOT NULL THEN request_bytes
            WHEN source_format = 's3_access_log' THEN object_size_bytes
        END AS moved_bytes,
        -- These formats stamp a request when it was answered, the others when it came.
        CASE
            WHEN source_format IN ('cloudtrail', 'gcs_usage', 'gcs_audit', 'minio_audit')
                THEN event_us
            ELSE event_us + CAST(
                ROUND(LEAST(GREATEST(COALESCE(duration_seconds, 0), 0), 604800) * 1000000) AS BIGINT
            )
        END AS answered_us,
        CASE provider WHEN 'gcs' THEN 'gs://' WHEN 'azure' THEN 'az://' ELSE 's3://' END
        || CASE WHEN provider = 'azure' AND bucket_owner IS NOT NULL THEN bucket_owner || '/'
            ELSE '' END
        || bucket AS bucket_id
    FROM kinds
)

SELECT
    record_id,
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
    CASE
        WHEN outcome NOT IN ('success', 'other') THEN COALESCE(error, CAST(status AS VARCHAR))
    END AS failure,
    -- Of what failed, the body that tells so.
    CASE WHEN outcome = 'success' THEN moved_bytes ELSE response_bytes END AS moved_bytes,
    -- Where in the object the body begins, unless the read is complete. A 200 begins with it, but
    -- for results of a query, and so does a part that is all of it.
    CASE
        WHEN operation <> 'read' OR outcome <> 'success' OR COALESCE(moved_bytes, 0) = 0 THEN NULL
        WHEN
            CAST(COALESCE(response_offset_bytes, 0) AS HUGEINT) + moved_bytes
            > COALESCE(object_size_bytes, 9223372036854775807)
            THEN NULL
        WHEN
            status = 200
            AND moved_bytes < object_size_bytes
            AND part_number IS NULL
            AND operation_name NOT ILIKE '%select%'
            THEN 0
        WHEN status = 206 AND moved_bytes = object_size_bytes THEN 0
        WHEN status = 206 THEN response_offset_bytes
    END AS offset_bytes,
    -- Of an upload in parts only the completion tells the size, and of a write only its success.
    CASE
        WHEN is_part OR (operation = 'write' AND outcome <> 'success') THEN NULL
        ELSE object_size_bytes
    END AS object_size_bytes,
    COALESCE(operation = 'read' AND status = 200 AND moved_bytes = object_size_bytes, FALSE)
        AS is_complete,
    -- What the storage deletes by rules of its own has no status.
    operation IN ('write', 'copy', 'delete')
        AND key IS NOT NULL
        AND NOT is_part
        AND NOT is_beside
        AND (outcome = 'success' OR (operation = 'delete' AND status IS NULL AND error IS NULL))
        AS is_change,
    client_address,
    principal,
    session_arn,
    access_key_id_hash,
    COALESCE(u.told, user_agent) AS user_agent,
    app_id,
    bucket_region,
    endpoint,
    vpc_endpoint_id,
    duration_seconds,
    bucket_id,
    -- Which dealings it is of, in one number: joins on all these texts hold them in memory.
    MD5_NUMBER(CAST(TO_JSON([
        provider, bucket_id, bucket, key, version_id, operation, client_address, principal,
        COALESCE(u.told, user_agent)
    ]) AS VARCHAR)) AS dealing
FROM answered
LEFT JOIN transfer_agents AS u ON user_agent = u.stated
