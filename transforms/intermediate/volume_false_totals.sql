-- Series whose readings contradict that they count since a beginning: they fall and come back, as
-- readings of two counters under one name do (`interleaved_observers`), or fall at every third step
-- (`falls_like_delta`); or the beginning moves on with each reading that grows (`moving_start`).
-- Readings of one UTC day are compared, so that each day's build says the same of it.
-- Grain: one such series and day.
-- Reads: volume_series.
WITH readings AS (
    SELECT
        series, at_us, at_us // 86400000000 AS day_number, MAX(value) AS value, MAX(stated_us) AS stated_us,
        MIN(forgets_after_us) AS forgets_after_us
    FROM volume_series
    GROUP BY series, at_us
),

neighbours AS (
    SELECT
        *,
        LAG(at_us) OVER by_time AS before_us,
        LAG(value) OVER by_time AS before_value,
        LAG(stated_us) OVER by_time AS before_stated_us,
        LEAD(value) OVER by_time AS next_value,
        LEAD(stated_us) OVER by_time AS next_stated_us
    FROM readings
    WINDOW by_time AS (PARTITION BY series, day_number ORDER BY at_us)
),

steps AS (
    SELECT
        series,
        day_number,
        CAST(before_value - value AS HUGEINT) * 8 >= before_value
        AND value < before_value
        AND stated_us IS NOT DISTINCT FROM before_stated_us
        AND COALESCE(at_us - before_us <= forgets_after_us, TRUE) AS falls,
        next_value >= before_value AND next_stated_us IS NOT DISTINCT FROM stated_us AS returns,
        stated_us <> before_stated_us
        AND ABS(stated_us - before_us) <= 1000000
        AND value > before_value AS moves
    FROM neighbours
    WHERE before_us IS NOT NULL
),

counted AS (
    SELECT
        series,
        day_number,
        COUNT(*) AS step_count,
        COUNT(*) FILTER (WHERE falls) AS fall_count,
        COUNT(*) FILTER (WHERE falls AND returns) AS return_count,
        COUNT(*) FILTER (WHERE moves) AS move_count
    FROM steps
    GROUP BY series, day_number
)

SELECT
    series,
    day_number,
    CASE
        WHEN move_count >= 2 AND move_count = step_count THEN 'moving_start'
        WHEN return_count >= 2 THEN 'interleaved_observers'
        ELSE 'falls_like_delta'
    END AS kind
FROM counted
WHERE
    return_count >= 2
    OR (fall_count >= 3 AND fall_count * 3 >= step_count)
    OR (move_count >= 2 AND move_count = step_count)
