-- Who asked by Google's audit log, for records of its usage log, which tells bytes but nobody
-- (definitions.md 37): bucket, object, method, address and a time at most 2 s away are the same. Two
-- records are one request if neither has another candidate; else the principal is told where all
-- candidates have the same, so that the parts of one read stay one client's.
-- The audit log does not tell content and metadata apart: a HEAD is a read there.
-- Grain: one record of the usage log with a candidate. `trail_id`: the audit record that it is.
-- Reads: object_requests.
-- Parameters: $from_us (start of the look-back), $end_us (end of the day), $guard_us (clocks).
WITH records AS (
    SELECT DISTINCT
        record_id,
        source_format = 'gcs_audit' AS is_audit,
        bucket,
        key,
        CASE operation WHEN 'head' THEN 'read' ELSE operation END AS method,
        client_address,
        epoch_us(event_at) AS event_us,
        principal,
        access_key_id_hash
    FROM object_requests
    WHERE
        source_format IN ('gcs_usage', 'gcs_audit')
        AND bucket IS NOT NULL
        AND client_address IS NOT NULL
        AND epoch_us(event_at) >= CAST($from_us AS BIGINT)
        AND epoch_us(event_at) < CAST($end_us AS BIGINT)
),

met AS (
    SELECT
        record_id,
        is_audit,
        COUNT(*) FILTER (WHERE NOT is_audit) OVER near AS served_count,
        COUNT(*) FILTER (WHERE is_audit) OVER near AS trail_count,
        MIN(record_id) FILTER (WHERE is_audit) OVER near AS trail_id,
        COUNT(principal) FILTER (WHERE is_audit) OVER near AS principal_count,
        MIN(principal) FILTER (WHERE is_audit) OVER near AS first_principal,
        MAX(principal) FILTER (WHERE is_audit) OVER near AS last_principal,
        COUNT(access_key_id_hash) FILTER (WHERE is_audit) OVER near AS key_count,
        MIN(access_key_id_hash) FILTER (WHERE is_audit) OVER near AS first_key,
        MAX(access_key_id_hash) FILTER (WHERE is_audit) OVER near AS last_key
    FROM records
    WINDOW near AS (
        PARTITION BY bucket, key, method, client_address ORDER BY event_us
        RANGE BETWEEN CAST($guard_us AS BIGINT) PRECEDING AND CAST($guard_us AS BIGINT) FOLLOWING
    )
)

SELECT
    s.record_id,
    t.record_id AS trail_id,
    CASE
        WHEN s.principal_count = s.trail_count AND s.first_principal = s.last_principal
            THEN s.first_principal
    END AS principal,
    CASE
        WHEN s.key_count = s.trail_count AND s.first_key = s.last_key THEN s.first_key
    END AS access_key_id_hash
FROM met AS s
LEFT JOIN met AS t
    ON s.trail_count = 1 AND t.is_audit AND t.served_count = 1 AND s.trail_id = t.record_id
WHERE NOT s.is_audit AND s.trail_count > 0
