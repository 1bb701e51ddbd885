-- Increments of the observer that counts in each hour, cut at window edges.
-- Grain: one increment in one window of the day.
-- Reads: counter_increments.
-- Parameters: $start_us and $end_us (the day), $look_ahead_us.
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
        bytes,
        is_reset,
        is_gap,
        start_basis = 'delta_start' AS is_delta,
        -- Time that a restart hid ends at no reading.
        NOT (is_reset AND start_basis = 'sample') AS ends_at_reading
    FROM counter_increments
    WHERE pod_uid IS NOT NULL AND match_kind IN ('uid', 'name_window')
),

cut AS (
    SELECT
        *,
        UNNEST(
            RANGE(
                GREATEST(from_us, CAST($start_us AS BIGINT)) // 300000000,
                (LEAST(until_us, CAST($end_us AS BIGINT)) - 1) // 300000000 + 1
            )
        ) AS window_number
    FROM grown
    WHERE from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
),

placed AS (
    SELECT
        *,
        window_number // 12 AS hour_number,
        GREATEST(from_us, window_number * 300000000) AS part_from_us,
        LEAST(until_us, (window_number + 1) * 300000000) AS part_until_us
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
    p.is_delta,
    p.window_number,
    p.part_from_us,
    p.part_until_us,
    CAST(
        CAST(p.bytes AS HUGEINT) * (p.part_until_us - p.from_us) // (p.until_us - p.from_us)
        - CAST(p.bytes AS HUGEINT) * (p.part_from_us - p.from_us) // (p.until_us - p.from_us)
        AS BIGINT
    ) AS part_bytes,
    CASE
        WHEN p.true_from_us = p.part_from_us AND p.until_us = p.part_until_us THEN p.bytes
        ELSE 0
    END AS inside_bytes,
    p.bytes AS overlapping_bytes,
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
