-- Increments of the day of the observers that count, once for each hour that they meet.
-- Grain: one increment in one hour.
-- Reads: counter_increments, traffic_windows (of an hour).
-- Parameters: $date, $start_us and $end_us (the day).
WITH cut AS (
    SELECT
        counter_increment_id, pod_uid, interface, direction, observer, byte_layer, bytes, is_reset,
        start_basis IN ('known_start', 'reset_known_start') AS is_start_known,
        epoch_us(start_at) AS from_us,
        epoch_us(end_at) AS until_us,
        UNNEST(RANGE(
            GREATEST(epoch_us(start_at), CAST($start_us AS BIGINT)) // 3600000000,
            (LEAST(epoch_us(end_at), CAST($end_us AS BIGINT)) - 1) // 3600000000 + 1
        )) AS hour_number
    FROM counter_increments
    WHERE
        date = CAST($date AS DATE)
        AND pod_uid IS NOT NULL
        AND match_kind IN ('uid', 'name_window')
        AND NOT is_overlay
)

SELECT c.*
FROM cut AS c
INNER JOIN traffic_windows AS n
    ON c.pod_uid = n.pod_uid
    AND c.interface IS NOT DISTINCT FROM n.interface
    AND c.direction = n.direction
    AND c.observer = n.observer
    AND c.byte_layer = n.byte_layer
    AND c.hour_number = n.window_number
