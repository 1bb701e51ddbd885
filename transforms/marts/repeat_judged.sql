-- Fetches of the day with what went before them in each scope, if it is within the look-back.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_fetches, repeat_wanted, repeat_named, repeat_summed.
-- Parameters: $look_back_us.
WITH own AS (
    SELECT
        w.wanted_number, n.fetch_number, f.transfer_id, f.min_bytes, f.max_bytes, f.size_bytes,
        f.bytes_before
    FROM repeat_fetches AS f
    INNER JOIN repeat_wanted AS w
        ON f.start_date = w.start_date AND f.provider = w.provider AND f.object_id = w.object_id
    INNER JOIN repeat_named AS n ON f.transfer_id = n.transfer_id AND f.start_us = n.start_us
)

SELECT
    o.transfer_id,
    s.scope,
    s.place_number,
    o.min_bytes,
    o.max_bytes,
    o.size_bytes,
    o.bytes_before + s.bytes AS read_before,
    CASE WHEN y.start_us >= s.start_us - CAST($look_back_us AS BIGINT) THEN s.latest END
        AS previous,
    CASE WHEN x.start_us >= s.start_us - CAST($look_back_us AS BIGINT) THEN s.lost END
        AS possible
FROM own AS o
INNER JOIN repeat_summed AS s
    ON o.wanted_number = s.wanted_number AND o.fetch_number = s.fetch_number
LEFT JOIN (SELECT fetch_number, start_us FROM repeat_named) AS y ON s.latest = y.fetch_number
LEFT JOIN (SELECT fetch_number, start_us FROM repeat_named) AS x ON s.lost = x.fetch_number
