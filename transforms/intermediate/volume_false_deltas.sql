-- Directions of connections whose differences contradict that they are ones (`delta_only_grows`: they
-- only grow, as totals do; `interleaved_observers`: those of several observers without a name).
-- A connection only grows if at least 3 records of one beginning never fall, or 8 records rise each
-- above the one before. As single ones do so by chance, it counts only where falling connections of
-- the same observer are at most a tenth of them; then all connections of that observer whose records
-- never fall are undecided and held back, but those of one record, which mean the same either way.
-- Records of one connection overlap where 2 of them, and half of all, begin before an earlier one
-- ended; those that share a beginning do not.
-- Grain: one such connection.
-- Reads: volume_named.
-- Parameters: $start_us and $end_us (the day).
WITH connections AS (
    SELECT
        cluster, source_format, name, source, source_port, destination, destination_port,
        transport, flow_direction,
        BOOL_AND(is_named) AS is_named,
        COUNT(*) AS record_count,
        MIN(start_at) = MAX(start_at) AS has_one_start,
        -- Where the first is the least and the last the greatest, what lies between is looked at.
        ARG_MIN(bytes, {'end': end_at, 'start': start_at, 'bytes': bytes}) = MIN(bytes)
        AND ARG_MAX(bytes, {'end': end_at, 'start': start_at, 'bytes': bytes}) = MAX(bytes)
            AS may_grow,
        MIN(bytes) < MAX(bytes) AS varies
    FROM volume_named
    WHERE
        temporality = 'delta'
        AND repeats IS NULL
        AND epoch_us(start_at) < CAST($end_us AS BIGINT)
        AND GREATEST(epoch_us(end_at), epoch_us(start_at) + 1) > CAST($start_us AS BIGINT)
    GROUP BY ALL
    HAVING COUNT(*) > 1
),

watched AS (
    SELECT * FROM connections WHERE (may_grow AND varies) OR (NOT is_named AND record_count >= 3)
),

spaced AS (
    SELECT
        w.cluster, w.source_format, w.name, w.source, w.source_port, w.destination,
        w.destination_port, w.transport, w.flow_direction,
        v.bytes - LAG(v.bytes) OVER by_time AS step,
        epoch_us(v.start_at) + 1000000 < MAX(epoch_us(v.end_at)) OVER (
            PARTITION BY
                w.cluster, w.source_format, w.name, w.source, w.source_port, w.destination,
                w.destination_port, w.transport, w.flow_direction
            ORDER BY v.start_at, v.end_at, v.bytes
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS is_overlapping
    FROM watched AS w
    INNER JOIN volume_named AS v
        ON w.cluster IS NOT DISTINCT FROM v.cluster
        AND w.source_format = v.source_format
        AND w.name = v.name
        AND w.source IS NOT DISTINCT FROM v.source
        AND w.source_port IS NOT DISTINCT FROM v.source_port
        AND w.destination IS NOT DISTINCT FROM v.destination
        AND w.destination_port IS NOT DISTINCT FROM v.destination_port
        AND w.transport IS NOT DISTINCT FROM v.transport
        AND w.flow_direction IS NOT DISTINCT FROM v.flow_direction
    WHERE
        v.temporality = 'delta'
        AND v.repeats IS NULL
        AND epoch_us(v.start_at) < CAST($end_us AS BIGINT)
        AND GREATEST(epoch_us(v.end_at), epoch_us(v.start_at) + 1) > CAST($start_us AS BIGINT)
    WINDOW by_time AS (
        PARTITION BY
            w.cluster, w.source_format, w.name, w.source, w.source_port, w.destination,
            w.destination_port, w.transport, w.flow_direction
        ORDER BY v.end_at, v.start_at, v.bytes
    )
),

stepped AS (
    SELECT
        cluster, source_format, name, source, source_port, destination, destination_port,
        transport, flow_direction,
        COALESCE(MIN(step) >= 0, FALSE) AS never_falls,
        COALESCE(MIN(step) > 0, FALSE) AS always_rises,
        COUNT(*) FILTER (WHERE is_overlapping) AS overlap_count
    FROM spaced
    GROUP BY ALL
),

told AS (
    SELECT
        c.*,
        COALESCE(s.never_falls, NOT c.varies) AS never_falls,
        COALESCE(s.never_falls, FALSE)
        AND c.varies
        AND (
            (c.record_count >= 3 AND c.has_one_start)
            OR (c.record_count >= 8 AND s.always_rises)
        ) AS only_grows,
        NOT c.is_named
        AND NOT c.has_one_start
        AND c.record_count >= 3
        AND COALESCE(s.overlap_count >= 2 AND s.overlap_count * 2 >= c.record_count - 1, FALSE)
            AS is_mixed
    FROM connections AS c
    LEFT JOIN stepped AS s
        ON c.cluster IS NOT DISTINCT FROM s.cluster
        AND c.source_format = s.source_format
        AND c.name = s.name
        AND c.source IS NOT DISTINCT FROM s.source
        AND c.source_port IS NOT DISTINCT FROM s.source_port
        AND c.destination IS NOT DISTINCT FROM s.destination
        AND c.destination_port IS NOT DISTINCT FROM s.destination_port
        AND c.transport IS NOT DISTINCT FROM s.transport
        AND c.flow_direction IS NOT DISTINCT FROM s.flow_direction
),

observers AS (
    SELECT cluster, source_format, name
    FROM told
    GROUP BY ALL
    HAVING
        COUNT(*) FILTER (WHERE only_grows) > 0
        AND 10 * COUNT(*) FILTER (WHERE record_count >= 3 AND NOT never_falls)
        <= COUNT(*) FILTER (WHERE only_grows)
)

SELECT
    t.cluster, t.source_format, t.name, t.source, t.source_port, t.destination,
    t.destination_port, t.transport, t.flow_direction,
    CASE
        WHEN o.name IS NOT NULL AND t.never_falls THEN 'delta_only_grows'
        ELSE 'interleaved_observers'
    END AS kind
FROM told AS t
LEFT JOIN observers AS o
    ON t.cluster IS NOT DISTINCT FROM o.cluster
    AND t.source_format = o.source_format
    AND t.name = o.name
WHERE t.is_mixed OR (o.name IS NOT NULL AND t.never_falls)
