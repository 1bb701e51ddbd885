-- All fetches of the things that were fetched on the day, as known at the end of the day on which
-- such a fetch began. Null places are not known. `has_read` is false where nothing is known to have
-- been moved by then. `bytes` are those whose place in the object may be any (`is_loose`) and those
-- of whole reads; those of repeat_ranged stand in repeat_parts. `fetch_number` is the place in the
-- order of time, over all things.
-- Grain: one fetch and day, per day on which a fetch of the day began.
-- Reads: object_reads, repeat_pulls, repeat_contacts (days of the look-back), repeat_wanted,
--   repeat_ranged, repeat_fetches.
-- Parameters: none.
WITH told AS (
    SELECT
        w.wanted_number, w.start_date,
        t.transfer_id, t.start_at, t.run_uuid, t.cluster, t.node, t.reader_zone, t.reader_region,
        CASE
            WHEN
                r.wanted_number IS NOT NULL AND (t.read_ranges IS NOT NULL OR t.is_complete)
                THEN 0
            ELSE t.transferred_bytes
        END AS bytes,
        t.object_size_bytes AS size_bytes,
        t.etag,
        TRUE AS has_read,
        NOT t.is_complete AND (t.read_ranges IS NULL OR r.wanted_number IS NULL) AS is_loose
    FROM object_reads AS t
    INNER JOIN repeat_wanted AS w
        ON t.provider = w.provider AND t.object_id = w.object_id AND t.date <= w.start_date
    LEFT JOIN repeat_ranged AS r ON w.wanted_number = r.wanted_number
    UNION ALL
    SELECT
        w.wanted_number, w.start_date,
        p.transfer_id, p.start_at, p.run_uuid, p.cluster, p.node, p.reader_zone, p.reader_region,
        CASE WHEN p.has_moved THEN p.min_bytes ELSE 0 END AS bytes,
        p.size_bytes,
        NULL AS etag,
        TRUE AS has_read,
        TRUE AS is_loose
    FROM repeat_pulls AS p
    INNER JOIN repeat_wanted AS w
        ON w.provider = 'oci' AND p.object_id = w.object_id AND p.date <= w.start_date
    UNION ALL
    SELECT
        w.wanted_number, w.start_date,
        c.transfer_id, c.start_at, c.run_uuid, c.cluster, c.node, c.reader_zone, c.reader_region,
        COALESCE(c.min_bytes, 0) AS bytes,
        NULL AS size_bytes,
        NULL AS etag,
        TRUE AS has_read,
        TRUE AS is_loose
    FROM repeat_contacts AS c
    INNER JOIN repeat_wanted AS w
        ON w.provider = 'host' AND c.object_id = w.object_id AND c.date <= w.start_date
    UNION ALL
    -- A fetch of the day may have moved nothing yet when its first day ended.
    SELECT
        w.wanted_number, w.start_date,
        f.transfer_id, f.start_at, f.run_uuid, f.cluster, f.node, f.reader_zone, f.reader_region,
        0 AS bytes,
        f.size_bytes,
        f.etag,
        FALSE AS has_read,
        FALSE AS is_loose
    FROM repeat_fetches AS f
    INNER JOIN repeat_wanted AS w
        ON f.start_date = w.start_date AND f.provider = w.provider AND f.object_id = w.object_id
)

SELECT
    wanted_number,
    -- The order of definitions.md 26, in one number: what groups and windows hold must spill.
    DENSE_RANK() OVER (ORDER BY start_at, transfer_id) AS fetch_number,
    transfer_id,
    epoch_us(start_at) AS start_us,
    start_at < CAST(start_date AS TIMESTAMPTZ) AS is_before,
    run_uuid,
    CASE WHEN cluster IS NOT NULL AND node IS NOT NULL THEN cluster || '/' || node END
        AS node_key,
    reader_zone,
    reader_region,
    bytes,
    size_bytes,
    etag,
    has_read,
    is_loose
FROM told
