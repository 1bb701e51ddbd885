-- Bytes per pod, interface, direction and window of five minutes.
-- Grain: one window in which the chosen observer has an increment.
-- Reads: traffic_windows, pod_intervals.
-- Parameters: $cluster.
WITH pods AS (
    SELECT
        pod_uid,
        ARG_MAX(namespace, date) AS namespace,
        ARG_MAX(pod_name, date) AS pod_name,
        MAX(run_uuid) AS run_uuid,
        MAX(attempt) AS attempt
    FROM pod_intervals
    GROUP BY pod_uid
)

SELECT
    row_id([
        id_text(CAST($cluster AS VARCHAR)), id_text(w.pod_uid), id_text(w.interface),
        id_text(w.direction), id_text(w.window_number * 300000000), id_text('interface_counter')
    ]) AS pod_traffic_id,
    CAST($cluster AS VARCHAR) AS cluster,
    COALESCE(p.namespace, w.namespace) AS namespace,
    COALESCE(p.pod_name, w.pod_name) AS pod_name,
    w.pod_uid,
    p.run_uuid,
    p.attempt,
    w.interface,
    w.direction,
    make_timestamptz(w.window_number * 300000000) AS window_start_at,
    w.bytes,
    w.min_bytes,
    w.max_bytes,
    w.reset_count,
    CAST(LEAST(w.gap_us, 300000000) AS DOUBLE) / 1000000 AS gap_seconds,
    CAST(300000000 - LEAST(w.covered_us, 300000000) AS DOUBLE) / 1000000 AS uncovered_seconds,
    'interface_counter' AS measured_by,
    w.byte_layer,
    w.observer
FROM traffic_windows AS w
LEFT JOIN pods AS p USING (pod_uid)
