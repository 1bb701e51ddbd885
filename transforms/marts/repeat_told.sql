-- All reads of the objects that the day's reads read, as known at the end of the day on which such
-- a read began, once for each scope. A read of an unknown place has no key in that scope.
-- Grain: one row of object_transfers and scope, per day on which a read of the day began.
-- Reads: object_transfers (days of the look-back), repeat_reads.
-- Parameters: none.
WITH wanted AS (
    SELECT DISTINCT start_date, provider, object_id
    FROM repeat_reads
)

SELECT
    w.start_date,
    t.provider,
    t.object_id,
    s.scope,
    CASE s.scope
        WHEN 'run' THEN t.run_uuid
        WHEN 'node' THEN t.cluster || '/' || t.node
        ELSE ''
    END AS scope_key,
    t.transfer_id,
    t.run_uuid,
    t.start_at < CAST(w.start_date AS TIMESTAMPTZ) AS is_before,
    epoch_us(t.start_at) AS start_us,
    t.transferred_bytes AS bytes,
    CASE WHEN t.version_id IS NULL THEN t.object_size_bytes END AS size_class
FROM object_transfers AS t
INNER JOIN wanted AS w
    ON t.provider = w.provider AND t.object_id = w.object_id AND t.date <= w.start_date
CROSS JOIN (VALUES ('run'), ('node'), ('fleet')) AS s (scope)
WHERE
    t.operation = 'read'
    AND (t.transferred_bytes > 0 OR t.unlogged_bytes_count > t.not_modified_count)
