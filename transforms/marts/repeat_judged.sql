-- How many bytes of the same content were fetched before each fetch of the day in each scope, and
-- when last. `possible`: the latest fetch whose place is not known, which may have been there.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_fetches, repeat_wanted, repeat_day, repeat_before, repeat_old.
-- Parameters: $look_back_us.
WITH found AS (
    SELECT
        f.transfer_id,
        f.start_us - CAST($look_back_us AS BIGINT) AS since_us,
        f.min_bytes,
        f.max_bytes,
        f.size_bytes,
        d.scope,
        d.scope_key,
        f.bytes_before
            + COALESCE(d.bytes, 0) + COALESCE(b.bytes, 0) - COALESCE(o.bytes, 0) AS read_before,
        COALESCE(d.latest, b.latest) AS latest,
        COALESCE(d.lost, l.latest) AS lost
    FROM repeat_fetches AS f
    INNER JOIN repeat_wanted AS w
        ON f.start_date = w.start_date AND f.provider = w.provider AND f.object_id = w.object_id
    INNER JOIN repeat_day AS d
        ON w.wanted_number = d.wanted_number AND f.transfer_id = d.transfer_id
    LEFT JOIN repeat_before AS b
        ON d.wanted_number = b.wanted_number
        AND d.scope = b.scope
        AND d.scope_key = b.scope_key
        AND d.content = b.content
    LEFT JOIN repeat_before AS l
        ON l.scope_key IS NULL
        AND d.wanted_number = l.wanted_number
        AND d.scope = l.scope
        AND d.content = l.content
    LEFT JOIN repeat_old AS o
        ON d.wanted_number = o.wanted_number
        AND d.scope = o.scope
        AND d.transfer_id = o.transfer_id
)

SELECT
    * EXCLUDE (since_us, latest, lost),
    CASE WHEN latest.us >= since_us THEN latest END AS previous,
    CASE WHEN lost.us >= since_us THEN lost END AS possible
FROM found
