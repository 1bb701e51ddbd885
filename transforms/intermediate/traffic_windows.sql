-- Bytes per pod, interface, direction and window, with their bounds.
-- Grain: one window in which a chosen observer has an increment.
-- Reads: traffic_parts, traffic_shares.
-- Least bytes are those of increments wholly inside, most those of all that overlap; most is unknown
-- where a restart hid bytes. Both are those of this window: they are no sums of shorter ones.
WITH -- Increments of one cumulative series never overlap; those of several series may.
entangled AS (
    SELECT pod_uid, interface, direction
    FROM traffic_parts
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
    FROM traffic_parts AS p
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
        SUM(CASE WHEN part_us = until_us - true_from_us THEN bytes ELSE 0 END) AS min_bytes,
        SUM(bytes) AS max_bytes,
        COUNT(*) FILTER (WHERE is_reset) AS reset_count,
        SUM(part_us) AS covered_us,
        COALESCE(SUM(part_us) FILTER (WHERE is_gap), 0) AS gap_us
    FROM traffic_shares
    GROUP BY pod_uid, interface, direction, window_number
)

SELECT
    s.pod_uid,
    s.interface,
    s.direction,
    s.window_number,
    s.observer,
    s.byte_layer,
    s.namespace,
    s.pod_name,
    -- A counter that claims more than 64 bits of bytes must not stop the day.
    CAST(LEAST(s.bytes, 9223372036854775807) AS BIGINT) AS bytes,
    CAST(LEAST(s.min_bytes, 9223372036854775807) AS BIGINT) AS min_bytes,
    CASE
        WHEN s.reset_count = 0 THEN CAST(LEAST(s.max_bytes, 9223372036854775807) AS BIGINT)
    END AS max_bytes,
    s.reset_count,
    CAST(s.gap_us AS BIGINT) AS gap_us,
    CAST(COALESCE(c.covered_us, s.covered_us) AS BIGINT) AS covered_us
FROM summed AS s
LEFT JOIN covered AS c
    ON s.pod_uid = c.pod_uid
    AND s.interface IS NOT DISTINCT FROM c.interface
    AND s.direction = c.direction
    AND s.window_number = c.window_number
