-- Object transfers of the day with the direction of their bytes, seen from the pod.
-- A log that states no bytes of any successful request measures nothing. Failed requests have
-- bytes of their own (error_bytes), which are no transfer.
-- Grain: one transfer.
-- Reads: object_transfers.
-- Parameters: $date, $day_start, $day_end.
WITH today AS (
    SELECT
        *,
        GREATEST(start_at, CAST($day_start AS TIMESTAMPTZ)) AS first_at,
        LEAST(end_at, CAST($day_end AS TIMESTAMPTZ)) AS last_at,
        operation = 'write' AS is_write,
        -- Requests whose answer has a body that the log does not count.
        CASE
            WHEN operation IN ('read', 'write', 'list')
                THEN GREATEST(0, unlogged_bytes_count - not_modified_count)
            ELSE 0
        END AS unknown_count
    FROM object_transfers
    WHERE date = CAST($date AS DATE)
),

bounded AS (
    SELECT
        *,
        CASE
            WHEN unknown_count = 0 THEN transferred_bytes
            WHEN operation <> 'list' AND object_size_bytes IS NOT NULL
                THEN transferred_bytes + CAST(unknown_count AS HUGEINT) * object_size_bytes
        END AS max_bytes,
        unknown_count > 0 AND transferred_bytes = 0 AS is_unmeasured
    FROM today
)

SELECT
    transfer_id,
    COALESCE('pod ' || pod_uid, 'address ' || client_address) AS owner_key,
    provider,
    bucket,
    resource_id,
    operation,
    endpoint,
    cluster,
    run_uuid,
    attempt,
    pod_uid,
    candidate_pod_uids,
    container_role,
    stage,
    principal,
    reader_region,
    bucket_region,
    -- Of a declared bucket the settings may name a dataset; the resource is the bucket all the same.
    CASE WHEN resource_id = dataset_id THEN 'dataset' ELSE 'bucket' END AS resource_kind,
    first_at,
    last_at,
    request_count,
    denied_count,
    throttled_count,
    not_found_count,
    error_count,
    first_error,
    CASE WHEN is_unmeasured THEN 'none' ELSE 'storage_log' END AS measured_by,
    NOT is_write AND operation <> 'copy' AND NOT is_unmeasured AS has_received,
    is_write AND NOT is_unmeasured AS has_sent,
    transferred_bytes AS bytes,
    max_bytes,
    match_kind
FROM bounded
