-- Increments of the observer that counts in each hour, cut at edges of windows and hours.
-- Grain: one increment between two edges of the day.
-- Reads: counter_increments.
-- Parameters: $start_us and $end_us (the day), $look_ahead_us, $grain_us (a window's length).
WITH grown AS (
    SELECT
        pod_uid,
        namespace,
        pod_name,
        interface,
        direction,
        observer,
        byte_layer,
        series_id,
        epoch_us(start_at) AS true_from_us,
        -- Days before this one did not see the increment's end.
        GREATEST(
            epoch_us(start_at),
            (epoch_us(end_at) - CAST($look_ahead_us AS BIGINT)) // 86400000000 * 86400000000
        ) AS from_us,
        epoch_us(end_at) AS until_us,
        epoch_us(spread_start_at) AS stated_from_us,
        epoch_us(spread_end_at) AS stated_until_us,
        bytes,
        is_reset,
        is_gap,
        start_basis = 'delta_start' AS is_delta,
        -- Time that a restart hid ends at no reading.
        NOT (is_reset AND start_basis = 'sample') AS ends_at_reading
    FROM counter_increments
    WHERE pod_uid IS NOT NULL AND match_kind IN ('uid', 'name_window') AND NOT is_overlay
),

spread AS (
    SELECT
        *,
        CASE
            WHEN GREATEST(stated_from_us, from_us) < stated_until_us
                THEN GREATEST(stated_from_us, from_us)
            ELSE from_us
        END AS spread_from_us,
        CASE
            WHEN GREATEST(stated_from_us, from_us) < stated_until_us THEN stated_until_us
            ELSE until_us
        END AS spread_until_us
    FROM grown
),

cut AS (
    SELECT
        *,
        LEAST(CAST($grain_us AS BIGINT), 3600000000) AS cut_us,
        UNNEST(
            RANGE(
                GREATEST(from_us, CAST($start_us AS BIGINT))
                // LEAST(CAST($grain_us AS BIGINT), 3600000000),
                (LEAST(until_us, CAST($end_us AS BIGINT)) - 1)
                // LEAST(CAST($grain_us AS BIGINT), 3600000000) + 1
            )
        ) AS cut_number
    FROM spread
    WHERE from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
),

placed AS (
    SELECT
        *,
        cut_number * cut_us // CAST($grain_us AS BIGINT) AS window_number,
        cut_number * cut_us // 3600000000 AS hour_number,
        GREATEST(from_us, cut_number * cut_us) AS part_from_us,
        LEAST(until_us, (cut_number + 1) * cut_us) AS part_until_us
    FROM cut
),

present AS (
    SELECT DISTINCT pod_uid, interface, direction, hour_number, observer, byte_layer
    FROM placed
),

readings AS (
    SELECT
        pod_uid, interface, direction, observer, byte_layer,
        (until_us - 1) // 3600000000 AS hour_number,
        COUNT(*) AS reading_count
    FROM grown
    WHERE ends_at_reading
    GROUP BY ALL
),

chosen AS (
    SELECT p.pod_uid, p.interface, p.direction, p.hour_number, p.observer, p.byte_layer
    FROM present AS p
    LEFT JOIN readings AS r
        ON p.pod_uid = r.pod_uid
        AND p.interface IS NOT DISTINCT FROM r.interface
        AND p.direction = r.direction
        AND p.observer = r.observer
        AND p.byte_layer = r.byte_layer
        AND p.hour_number = r.hour_number
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY p.pod_uid, p.interface, p.direction, p.hour_number
        ORDER BY COALESCE(r.reading_count, 0) DESC, p.observer, p.byte_layer
    ) = 1
)

SELECT
    p.pod_uid,
    p.namespace,
    p.pod_name,
    p.interface,
    p.direction,
    p.observer,
    p.byte_layer,
    p.series_id,
    p.true_from_us,
    p.until_us,
    p.is_delta,
    p.window_number,
    p.part_from_us,
    p.part_until_us,
    moved_between(p.bytes, p.spread_from_us, p.spread_until_us, p.part_from_us, p.part_until_us)
        AS part_bytes,
    p.bytes,
    p.is_reset,
    p.is_gap
FROM placed AS p
INNER JOIN chosen AS c
    ON p.pod_uid = c.pod_uid
    AND p.interface IS NOT DISTINCT FROM c.interface
    AND p.direction = c.direction
    AND p.observer = c.observer
    AND p.byte_layer = c.byte_layer
    AND p.hour_number = c.hour_number
