-- What each increment gives to windows that are longer than an hour.
-- Grain: one increment in one window, of the hours in which its observer counts.
-- Reads: traffic_parts.
SELECT
    pod_uid,
    interface,
    direction,
    window_number,
    series_id,
    observer,
    byte_layer,
    true_from_us,
    until_us,
    MIN(namespace) AS namespace,
    MIN(pod_name) AS pod_name,
    BOOL_OR(is_delta) AS is_delta,
    BOOL_OR(is_reset) AS is_reset,
    BOOL_OR(is_gap) AS is_gap,
    MIN(part_from_us) AS part_from_us,
    MAX(part_until_us) AS part_until_us,
    CAST(SUM(part_until_us - part_from_us) AS BIGINT) AS part_us,
    CAST(SUM(part_bytes) AS BIGINT) AS part_bytes,
    MAX(bytes) AS bytes
FROM traffic_parts
GROUP BY
    pod_uid, interface, direction, window_number, series_id, observer, byte_layer, true_from_us,
    until_us
