-- Observers whose bytes of an hour cannot be those that the chosen observer of that hour saw.
-- Grain: one series of one observer that is not chosen.
-- Reads: counter_growth, counter_series.
-- Parameters: $start_us and $end_us (the day).
-- Least bytes are those of increments inside, most those of increments that meet the hour or touch
-- it, as observers need not read at one instant; most is unknown where a restart hid bytes. Hours
-- that one of the two did not wholly see are not compared.
WITH cut AS (
    SELECT
        *,
        UNNEST(
            RANGE(
                GREATEST(from_us - 1, CAST($start_us AS BIGINT)) // 3600000000,
                LEAST(until_us, CAST($end_us AS BIGINT) - 1) // 3600000000 + 1
            )
        ) AS hour_number
    FROM counter_growth
),

hours AS (
    SELECT
        s.series,
        s.series_id,
        s.observer,
        c.hour_number,
        SUM(c.bytes) FILTER (
            WHERE c.from_us > c.hour_number * 3600000000
            AND c.until_us < (c.hour_number + 1) * 3600000000
        ) AS min_bytes,
        CASE WHEN NOT BOOL_OR(c.basis IN (2, 5)) THEN SUM(c.bytes) END AS max_bytes,
        -- As traffic_parts.sql chooses: readings in the hour; time that a restart hid ends at none.
        COUNT(*) FILTER (WHERE c.basis <> 5 AND (c.until_us - 1) // 3600000000 = c.hour_number)
            AS reading_count
    FROM cut AS c
    INNER JOIN counter_series AS s USING (series)
    GROUP BY s.series, s.series_id, s.observer, c.hour_number
    HAVING
        SUM(
            LEAST(c.until_us, (c.hour_number + 1) * 3600000000)
            - GREATEST(c.from_us, c.hour_number * 3600000000)
        ) = 3600000000
),

chosen AS (
    SELECT series_id, hour_number, observer, min_bytes, max_bytes
    FROM hours
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY series_id, hour_number ORDER BY reading_count DESC, observer
    ) = 1
)

SELECT
    h.series,
    MIN(c.observer) AS chosen_observer,
    COUNT(*) AS hour_count
FROM hours AS h
INNER JOIN chosen AS c
    ON h.series_id = c.series_id
    AND h.hour_number = c.hour_number
    AND h.observer <> c.observer
WHERE h.min_bytes > c.max_bytes OR c.min_bytes > h.max_bytes
GROUP BY h.series
