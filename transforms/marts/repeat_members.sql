-- All reads of an object that a read of the day may repeat, and those reads themselves, as known at
-- the end of the day on which the later read began.
-- Grain: one transfer of one object, per day on which a read of the day began.
-- Reads: object_transfers (days of the look-back), repeat_reads.
-- Parameters: $date.
WITH wanted AS (
    SELECT DISTINCT start_date, provider, object_id
    FROM repeat_reads
),

told AS (
    SELECT
        w.start_date, t.provider, t.object_id, t.transfer_id, t.version_id, t.start_at,
        t.object_size_bytes, t.transferred_bytes, t.cluster, t.node, t.run_uuid,
        TRUE AS has_read
    FROM object_transfers AS t
    INNER JOIN wanted AS w
        ON t.provider = w.provider AND t.object_id = w.object_id AND t.date <= w.start_date
    WHERE
        t.date <= CAST($date AS DATE)
        AND t.operation = 'read'
        AND (t.transferred_bytes > 0 OR t.unlogged_bytes_count > t.not_modified_count)
    UNION ALL
    -- A read of the day may have moved nothing yet when its first day ended.
    SELECT
        start_date, provider, object_id, transfer_id, version_id, start_at, object_size_bytes,
        0 AS transferred_bytes, cluster, node, run_uuid, FALSE AS has_read
    FROM repeat_reads
),

members AS (
    SELECT
        start_date, provider, object_id, transfer_id,
        MIN(start_at) AS start_at,
        epoch_us(MIN(start_at)) AS start_us,
        CAST(SUM(transferred_bytes) AS BIGINT) AS bytes,
        CASE WHEN MAX(version_id) IS NULL THEN MAX(object_size_bytes) END AS size_class,
        MAX(cluster) AS cluster,
        MAX(node) AS node,
        MAX(run_uuid) AS run_uuid,
        BOOL_OR(has_read) AS has_read
    FROM told
    GROUP BY start_date, provider, object_id, transfer_id
)

SELECT
    *,
    ROW_NUMBER() OVER (
        PARTITION BY start_date, provider, object_id ORDER BY start_us, transfer_id
    ) AS place
FROM members
