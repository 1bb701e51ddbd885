-- Bytes of pods' interfaces by hour, with bounds of an hour: those of shorter windows would add up to
-- wider ones.
-- Grain: pod, direction, hour.
-- Reads: traffic_windows (of an hour).
SELECT
    pod_uid,
    direction,
    window_number AS hour_number,
    SUM(bytes) AS interface_bytes,
    SUM(min_bytes) AS min_interface_bytes,
    CASE WHEN COUNT(*) = COUNT(max_bytes) THEN SUM(max_bytes) END AS max_interface_bytes,
    SUM(reset_count) AS reset_count,
    MAX(LEAST(gap_us, 3600000000)) AS gap_us,
    3600000000 - MIN(LEAST(covered_us, 3600000000)) AS uncovered_us,
    layer_of(MAX(layer_rank(byte_layer))) AS interface_byte_layer
FROM traffic_windows
GROUP BY pod_uid, direction, window_number
