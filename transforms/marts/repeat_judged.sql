-- How many bytes of the object were read before each read of the day in each scope, and when last.
-- An object without a version may have been replaced: a read of another stated size is of another
-- content and counts for nothing. `possible`: the latest read whose place is not known, which may
-- have been of the scope.
-- Grain: one read of the day and scope.
-- Reads: repeat_reads, repeat_day, repeat_before, repeat_places, repeat_old.
-- Parameters: $look_back_us.
WITH sums AS (
    SELECT
        d.*,
        COALESCE(d.any_bytes, 0) + COALESCE(p.any_bytes, 0) - COALESCE(o.any_bytes, 0)
            AS all_any_bytes,
        COALESCE(d.sized_bytes, 0) + COALESCE(p.sized_bytes, 0) - COALESCE(o.sized_bytes, 0)
            AS all_sized_bytes,
        COALESCE(d.same_bytes, 0) + COALESCE(b.bytes, 0) - COALESCE(o.same_bytes, 0)
            AS all_same_bytes,
        p.latest_any AS before_any,
        p.latest_unsized AS before_unsized,
        b.latest AS before_same,
        l.latest_any AS lost_before_any,
        l.latest_unsized AS lost_before_unsized,
        m.latest AS lost_before_same
    FROM repeat_day AS d
    LEFT JOIN repeat_places AS p
        ON d.start_date = p.start_date
        AND d.provider = p.provider
        AND d.object_id = p.object_id
        AND d.scope = p.scope
        AND d.scope_key = p.scope_key
    LEFT JOIN repeat_before AS b
        ON d.start_date = b.start_date
        AND d.provider = b.provider
        AND d.object_id = b.object_id
        AND d.scope = b.scope
        AND d.scope_key = b.scope_key
        AND d.size_class = b.size_class
    LEFT JOIN repeat_places AS l
        ON l.scope_key IS NULL
        AND d.start_date = l.start_date
        AND d.provider = l.provider
        AND d.object_id = l.object_id
        AND d.scope = l.scope
    LEFT JOIN repeat_before AS m
        ON m.scope_key IS NULL
        AND d.start_date = m.start_date
        AND d.provider = m.provider
        AND d.object_id = m.object_id
        AND d.scope = m.scope
        AND d.size_class = m.size_class
    LEFT JOIN repeat_old AS o
        ON d.start_date = o.start_date AND d.scope = o.scope AND d.transfer_id = o.transfer_id
),

-- A read of the same day is always later than one of the days before.
chosen AS (
    SELECT
        *,
        CASE
            WHEN size_class IS NULL THEN latest_any ELSE GREATEST(latest_unsized, latest_same)
        END AS previous_place,
        CASE WHEN size_class IS NULL THEN lost_any ELSE GREATEST(lost_unsized, lost_same) END
            AS possible_place,
        CASE
            WHEN size_class IS NULL THEN before_any ELSE LIST_MAX([before_unsized, before_same])
        END AS previous_before,
        CASE
            WHEN size_class IS NULL THEN lost_before_any
            ELSE LIST_MAX([lost_before_unsized, lost_before_same])
        END AS possible_before
    FROM sums
),

latest AS (
    SELECT
        c.*,
        CASE
            WHEN q.place IS NOT NULL
                THEN STRUCT_PACK(us := q.start_us, id := q.transfer_id, run := q.run_uuid)
            ELSE c.previous_before
        END AS previous,
        CASE
            WHEN w.place IS NOT NULL
                THEN STRUCT_PACK(us := w.start_us, id := w.transfer_id, run := w.run_uuid)
            ELSE c.possible_before
        END AS possible
    FROM chosen AS c
    LEFT JOIN repeat_day AS q
        ON c.start_date = q.start_date
        AND c.provider = q.provider
        AND c.object_id = q.object_id
        AND c.scope = q.scope
        AND c.previous_place = q.place
    LEFT JOIN repeat_day AS w
        ON c.start_date = w.start_date
        AND c.provider = w.provider
        AND c.object_id = w.object_id
        AND c.scope = w.scope
        AND c.possible_place = w.place
)

SELECT
    r.transfer_id,
    l.scope,
    l.scope_key,
    r.transferred_bytes,
    r.bytes_before
        + CASE
            WHEN l.size_class IS NULL THEN l.all_any_bytes
            ELSE l.all_any_bytes - l.all_sized_bytes + l.all_same_bytes
        END AS read_before,
    r.object_size_bytes,
    CASE WHEN l.previous.us >= l.start_us - $look_back_us THEN l.previous END AS previous,
    CASE WHEN l.possible.us >= l.start_us - $look_back_us THEN l.possible END AS possible
FROM repeat_reads AS r
INNER JOIN latest AS l ON r.transfer_id = l.transfer_id AND r.start_date = l.start_date
