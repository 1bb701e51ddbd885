-- What of the sums lies before the look-back of each fetch: only fetches of the first day that the
-- look-back touches can be inside for one fetch and outside for another.
-- Grain: one fetch of the day and scope with such bytes.
-- Reads: repeat_scoped, repeat_day, repeat_wanted.
-- Parameters: $look_back_us.
WITH edge AS (
    SELECT s.wanted_number, s.scope, s.place_number, s.content, s.start_us, s.bytes
    FROM repeat_scoped AS s
    INNER JOIN repeat_wanted AS w ON s.wanted_number = w.wanted_number
    WHERE
        s.is_before
        AND s.start_us
            < epoch_us(CAST(w.start_date AS TIMESTAMP)) + 86400000000 - CAST($look_back_us AS BIGINT)
),

touched AS (
    SELECT DISTINCT wanted_number, scope, place_number, content FROM edge
),

moments AS (
    SELECT
        wanted_number, scope, place_number, content, start_us AS moment_us, bytes,
        CAST(NULL AS BIGINT) AS fetch_number
    FROM edge
    UNION ALL
    SELECT
        d.wanted_number, d.scope, d.place_number, d.content,
        d.start_us - CAST($look_back_us AS BIGINT) AS moment_us,
        0 AS bytes,
        d.fetch_number
    FROM repeat_day AS d
    INNER JOIN touched AS t
        ON d.wanted_number = t.wanted_number
        AND d.scope = t.scope
        AND d.place_number = t.place_number
        AND d.content = t.content
),

summed AS (
    SELECT
        *,
        SUM(bytes) OVER (
            PARTITION BY wanted_number, scope, place_number, content ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS old_bytes
    FROM moments
)

SELECT wanted_number, scope, fetch_number, old_bytes AS bytes
FROM summed
WHERE fetch_number IS NOT NULL
