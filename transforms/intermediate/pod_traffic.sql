-- Bytes per pod, interface, direction and window of five minutes.
-- Grain: one window in which the chosen observer has an increment.
-- Reads: pod_traffic_parts, pod_intervals.
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
),

-- Increments of one cumulative series never overlap; those of several series may.
entangled AS (
    SELECT pod_uid, interface, direction
    FROM pod_traffic_parts
    GROUP BY pod_uid, interface, direction
    HAVING COUNT(DISTINCT series_id) > 1 OR BOOL_OR(is_delta)
),

untangled AS (
    SELECT
        p.pod_uid, p.interface, p.direction, p.window_number,
        GREATEST(
            p.part_until_us - GREATEST(
                p.part_from_us,
                MAX(p.part_until_us) OVER (
                    PARTITION BY p.pod_uid, p.interface, p.direction, p.window_number
                    ORDER BY p.part_from_us, p.part_until_us
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                )
            ),
            0
        ) AS covered_us
    FROM pod_traffic_parts AS p
    INNER JOIN entangled AS e
        ON p.pod_uid = e.pod_uid
        AND p.interface IS NOT DISTINCT FROM e.interface
        AND p.direction = e.direction
),

covered AS (
    SELECT
        pod_uid, interface, direction, window_number,
        CAST(SUM(covered_us) AS BIGINT) AS covered_us
    FROM untangled
    GROUP BY ALL
),

summed AS (
    SELECT
        pod_uid,
        interface,
        direction,
        window_number,
        MIN(observer) AS observer,
        MIN(byte_layer) AS byte_layer,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        SUM(part_bytes) AS bytes,
        SUM(inside_bytes) AS min_bytes,
        SUM(overlapping_bytes) AS max_bytes,
        COUNT(*) FILTER (WHERE is_reset) AS reset_count,
        SUM(part_until_us - part_from_us) AS covered_us,
        COALESCE(SUM(part_until_us - part_from_us) FILTER (WHERE is_gap), 0) AS gap_us
    FROM pod_traffic_parts
    GROUP BY pod_uid, interface, direction, window_number
)

SELECT
    row_id([
        id_text(CAST($cluster AS VARCHAR)), id_text(s.pod_uid), id_text(s.interface),
        id_text(s.direction), id_text(s.window_number * 300000000), id_text('interface_counter')
    ]) AS pod_traffic_id,
    CAST($cluster AS VARCHAR) AS cluster,
    COALESCE(p.namespace, s.namespace) AS namespace,
    COALESCE(p.pod_name, s.pod_name) AS pod_name,
    s.pod_uid,
    p.run_uuid,
    p.attempt,
    s.interface,
    s.direction,
    make_timestamptz(s.window_number * 300000000) AS window_start_at,
    -- A counter that claims more than 64 bits of bytes must not stop the day.
    CAST(LEAST(s.bytes, 9223372036854775807) AS BIGINT) AS bytes,
    CAST(LEAST(s.min_bytes, 9223372036854775807) AS BIGINT) AS min_bytes,
    CASE
        WHEN s.reset_count = 0 THEN CAST(LEAST(s.max_bytes, 9223372036854775807) AS BIGINT)
    END AS max_bytes,
    CAST(s.reset_count AS BIGINT) AS reset_count,
    CAST(LEAST(s.gap_us, 300000000) AS DOUBLE) / 1000000 AS gap_seconds,
    CAST(300000000 - LEAST(COALESCE(c.covered_us, s.covered_us), 300000000) AS DOUBLE) / 1000000
        AS uncovered_seconds,
    'interface_counter' AS measured_by,
    s.byte_layer,
    s.observer
FROM summed AS s
LEFT JOIN pods AS p USING (pod_uid)
LEFT JOIN covered AS c
    ON s.pod_uid = c.pod_uid
    AND s.interface IS NOT DISTINCT FROM c.interface
    AND s.direction = c.direction
    AND s.window_number = c.window_number
