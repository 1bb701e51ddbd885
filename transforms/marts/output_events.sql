-- What was done to objects of expected outputs in the run's time: written, failed to be written,
-- aborted, deleted.
-- Grain: one event of one object of one output.
-- Reads: output_paths, output_runs, object_transfers, object_requests.
WITH transfers AS (
    SELECT
        t.*,
        CASE
            WHEN t.version_id IS NULL THEN t.object_id
            ELSE REGEXP_REPLACE(t.object_id, '@[^@/]*$', '')
        END AS object_path
    FROM object_transfers AS t
    WHERE t.key IS NOT NULL AND t.operation IN ('write', 'copy', 'delete', 'other')
),

-- By the run: whatever it did under the path; by others: deletions.
met AS (
    SELECT
        o.run_output_id, o.run_uuid, t.object_path, t.operation, t.transfer_id, t.change_times,
        t.object_size_bytes, t.provider, t.bucket, t.key, t.client_address, t.start_at, t.end_at,
        t.denied_count + t.not_found_count + t.throttled_count + t.error_count AS failure_count,
        t.first_error, t.request_count,
        COALESCE(t.run_uuid = o.run_uuid, FALSE) AS is_own,
        r.start_us, r.until_us
    FROM output_paths AS o
    INNER JOIN output_runs AS r ON o.run_uuid = r.run_uuid
    INNER JOIN transfers AS t
        ON (
            o.resource_id IS NOT NULL
            AND (
                t.object_path = o.resource_id
                OR STARTS_WITH(t.object_path, o.resource_id || '/')
            )
        )
        OR (
            -- The place of the store is not known, the folder of the run in it is.
            o.resource_id IS NULL
            AND t.run_uuid = o.run_uuid
            AND CONTAINS('/' || t.key, '/' || o.run_uuid || '/' || COALESCE(o.part, ''))
        )
    WHERE t.run_uuid = o.run_uuid OR t.operation = 'delete'
),

changed AS (
    SELECT *, UNNEST(change_times) AS changed_at
    FROM met
    WHERE operation IN ('write', 'copy', 'delete')
),

-- Single requests, because a burst may hold tries that failed before and behind one that did not.
asked AS (
    SELECT
        m.run_output_id, m.run_uuid, m.object_path, m.transfer_id, m.start_us, m.until_us,
        q.operation, q.operation_name, q.error, q.status,
        epoch_us(q.event_at) AS event_us
    FROM met AS m
    INNER JOIN object_requests AS q
        ON m.provider = q.provider
        AND m.bucket = q.bucket
        AND m.key = q.key
        AND m.operation = q.operation
        AND m.client_address IS NOT DISTINCT FROM q.client_address
        AND q.event_at >= m.start_at
        AND q.event_at <= m.end_at
    WHERE m.is_own
),

events AS (
    SELECT
        run_output_id, object_path,
        CASE WHEN operation = 'delete' THEN 'deleted' ELSE 'written' END AS what,
        epoch_us(changed_at) AS event_us, is_own, object_size_bytes,
        CAST(NULL AS VARCHAR) AS error, transfer_id, start_us, until_us
    FROM changed
    UNION ALL
    SELECT
        run_output_id, object_path, 'failed' AS what, epoch_us(end_at) AS event_us, is_own,
        NULL AS object_size_bytes, first_error AS error, transfer_id, start_us, until_us
    FROM met
    WHERE
        is_own
        AND operation IN ('write', 'copy')
        AND failure_count > 0
        AND change_times IS NULL
        AND failure_count = request_count
    UNION ALL
    SELECT
        run_output_id, object_path, 'failed' AS what, event_us, TRUE AS is_own,
        NULL AS object_size_bytes,
        COALESCE(error, CAST(status AS VARCHAR)) AS error, transfer_id, start_us, until_us
    FROM asked
    WHERE
        operation IN ('write', 'copy')
        AND (status >= 400 OR (status IS NULL AND error IS NOT NULL))
    UNION ALL
    SELECT
        run_output_id, object_path, 'aborted' AS what, event_us, TRUE AS is_own,
        NULL AS object_size_bytes, NULL AS error, transfer_id, start_us, until_us
    FROM asked
    WHERE
        UPPER(operation_name) IN ('REST.DELETE.UPLOAD', 'ABORTMULTIPARTUPLOAD')
        AND (status BETWEEN 200 AND 299 OR (status IS NULL AND error IS NULL))
)

SELECT
    run_output_id, object_path, what, event_us, is_own,
    MAX(object_size_bytes) AS object_size_bytes,
    MIN(error) AS error,
    MIN(transfer_id) AS transfer_id
FROM events
-- What others delete counts whenever it was; what the run does, in its time.
WHERE event_us >= start_us AND (event_us < until_us OR NOT is_own)
GROUP BY run_output_id, object_path, what, event_us, is_own
