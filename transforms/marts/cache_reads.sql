-- Reads of objects in a range of days, in order of time, with the object's content and its places.
-- Content: one object version of one tag and size between two writes onto it. Reads whose tag is not
--   logged are a content of their own, and those whose size is not: what may be the same is not
--   counted as the same.
-- Grain: one transfer.
-- Reads: object_reads, object_transfers (what changed objects).
-- Parameters: $first and $last (days, inclusive), $from_us (first instant that counts).
WITH reads AS (
    SELECT
        transfer_id,
        MIN(start_at) AS start_at,
        MAX(end_at) AS end_at,
        ANY_VALUE(provider) AS provider,
        ANY_VALUE(bucket) AS bucket,
        ANY_VALUE(key) AS key,
        ANY_VALUE(version_id) AS version_id,
        ARG_MIN(etag, date) AS etag,
        ARG_MIN(resource_id, date) AS resource_id,
        ARG_MIN(run_uuid, date) AS run_uuid,
        ARG_MIN(cluster || '/' || node, date) AS node,
        ARG_MIN(reader_region || '/' || reader_zone, date) AS zone,
        ARG_MIN(reader_region, date) AS region,
        MIN(date) AS first_date,
        in_64_bits(SUM(transferred_bytes)) AS read_bytes,
        CASE WHEN MIN(object_size_bytes) = MAX(object_size_bytes) THEN MIN(object_size_bytes) END
            AS object_size_bytes
    FROM object_reads
    WHERE
        key IS NOT NULL
        AND date BETWEEN CAST($first AS DATE) AND CAST($last AS DATE)
    GROUP BY transfer_id
),

changes AS (
    SELECT DISTINCT provider, bucket, key, UNNEST(change_times) AS changed_at
    FROM object_transfers
    WHERE date BETWEEN CAST($first AS DATE) AND CAST($last AS DATE)
),

contents AS (
    SELECT r.*, c.changed_at
    FROM reads AS r
    ASOF LEFT JOIN changes AS c
        ON r.provider = c.provider
        AND r.bucket = c.bucket
        AND r.key = c.key
        AND r.start_at >= c.changed_at
)

SELECT
    transfer_id,
    first_date,
    resource_id,
    run_uuid,
    node,
    zone,
    region,
    read_bytes,
    object_size_bytes,
    epoch_us(end_at) - epoch_us(start_at) AS duration_us,
    epoch_us(start_at) >= CAST($from_us AS BIGINT) AS is_counted,
    row_id([
        provider, bucket, key, id_text(version_id), id_text(etag), id_text(object_size_bytes),
        id_time(changed_at)
    ]) AS content
FROM contents
ORDER BY start_at, transfer_id
