-- Fetches of the day with what went before them in each scope, if it is within the look-back.
-- `read_before`: bytes of the content that the scope holds, at most. `again_bytes`: bytes of this
-- day that ranges show to be among them. `is_exact`: whole reads and ranges leave nothing open.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_fetches, repeat_wanted, repeat_ranged, repeat_named, repeat_summed, repeat_covered.
-- Parameters: $look_back_us.
WITH own AS (
    SELECT
        w.wanted_number, n.fetch_number, f.transfer_id, f.min_bytes, f.max_bytes, f.size_bytes,
        f.bytes_before,
        f.size_bytes IS NOT NULL
        AND (f.is_whole OR (f.has_ranges AND r.wanted_number IS NOT NULL)) AS has_offsets
    FROM repeat_fetches AS f
    INNER JOIN repeat_wanted AS w
        ON f.start_date = w.start_date AND f.provider = w.provider AND f.object_id = w.object_id
    INNER JOIN repeat_named AS n ON f.transfer_id = n.transfer_id AND f.start_us = n.start_us
    LEFT JOIN repeat_ranged AS r ON w.wanted_number = r.wanted_number
),

moments AS (
    SELECT fetch_number, start_us FROM repeat_named
),

judged AS (
    SELECT
        o.transfer_id,
        s.scope,
        s.place_number,
        o.min_bytes,
        o.max_bytes,
        o.size_bytes,
        o.has_offsets,
        COALESCE(c.again_bytes, 0) AS again_bytes,
        o.bytes_before - COALESCE(c.again_earlier_bytes, 0) + s.bytes + COALESCE(c.held_bytes, 0)
            AS read_before,
        CASE WHEN y.start_us >= s.start_us - CAST($look_back_us AS BIGINT) THEN s.latest END
            AS previous,
        CASE WHEN x.start_us >= s.start_us - CAST($look_back_us AS BIGINT) THEN s.lost END
            AS possible,
        COALESCE(z.start_us >= s.start_us - CAST($look_back_us AS BIGINT), FALSE) AS has_loose
    FROM own AS o
    INNER JOIN repeat_summed AS s
        ON o.wanted_number = s.wanted_number AND o.fetch_number = s.fetch_number
    LEFT JOIN repeat_covered AS c
        ON o.wanted_number = c.wanted_number
        AND o.fetch_number = c.fetch_number
        AND s.scope = c.scope
    LEFT JOIN moments AS y ON s.latest = y.fetch_number
    LEFT JOIN moments AS x ON s.lost = x.fetch_number
    LEFT JOIN moments AS z ON s.loose = z.fetch_number
)

SELECT
    * EXCLUDE (has_offsets, has_loose),
    has_offsets AND NOT has_loose AND possible IS NULL AS is_exact
FROM judged
