-- Directions of connections whose differences contradict that they are ones (`delta_only_grows`: they
-- only grow, as totals do; `interleaved_observers`: those of several observers without a name).
-- A connection only grows if at least 3 records of one beginning never fall, or 8 records rise each
-- above the one before. As single ones do so by chance, it counts only where falling connections of
-- the same observer are at most a tenth of them; then all connections of that observer whose records
-- never fall are undecided and held back, but those of one record, which mean the same either way.
-- Records of one connection overlap where 2 of them, and half of all, begin before an earlier one
-- ended; those that share a beginning do not.
-- Records of one UTC day are judged, by their ends, so that each day's build says the same of it.
-- Grain: one such connection and day, of the built day and the one before.
-- Reads: volume_named.
-- Parameters: $start_us and $end_us (the day).
WITH differences AS (
    SELECT
        connection, is_named, start_at, end_at, bytes,
        (GREATEST(epoch_us(end_at), epoch_us(start_at) + 1) - 1) // 86400000000 AS day_number
    FROM volume_named
    WHERE
        temporality = 'delta'
        AND repeats IS NULL
        AND NOT is_beginning
        AND epoch_us(start_at) < CAST($end_us AS BIGINT)
        AND epoch_us(end_at) <= CAST($end_us AS BIGINT)
        AND GREATEST(epoch_us(end_at), epoch_us(start_at) + 1)
        > CAST($start_us AS BIGINT) - 86400000000
),

connections AS (
    SELECT
        connection,
        day_number,
        BOOL_AND(is_named) AS is_named,
        COUNT(*) AS record_count,
        MIN(start_at) = MAX(start_at) AS has_one_start,
        -- Where the first is the least and the last the greatest, what lies between is looked at.
        ARG_MIN(bytes, {'end': end_at, 'start': start_at, 'bytes': bytes}) = MIN(bytes)
        AND ARG_MAX(bytes, {'end': end_at, 'start': start_at, 'bytes': bytes}) = MAX(bytes)
            AS may_grow,
        MIN(bytes) < MAX(bytes) AS varies
    FROM differences
    GROUP BY connection, day_number
    HAVING COUNT(*) > 1
),

watched AS (
    SELECT connection, day_number
    FROM connections
    WHERE (may_grow AND varies) OR (NOT is_named AND record_count >= 3)
),

spaced AS (
    SELECT
        connection,
        day_number,
        bytes - LAG(bytes) OVER (
            PARTITION BY connection, day_number ORDER BY end_at, start_at, bytes
        ) AS step,
        epoch_us(start_at) + 1000000 < MAX(epoch_us(end_at)) OVER (
            PARTITION BY connection, day_number
            ORDER BY start_at, end_at, bytes
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS is_overlapping
    FROM differences
    SEMI JOIN watched USING (connection, day_number)
),

stepped AS (
    SELECT
        connection,
        day_number,
        COALESCE(MIN(step) >= 0, FALSE) AS never_falls,
        COALESCE(MIN(step) > 0, FALSE) AS always_rises,
        COUNT(*) FILTER (WHERE is_overlapping) AS overlap_count
    FROM spaced
    GROUP BY connection, day_number
),

told AS (
    SELECT
        c.*,
        {
            'cluster': c.connection.cluster, 'format': c.connection.format,
            'name': c.connection.name
        } AS observer,
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
    LEFT JOIN stepped AS s ON c.connection = s.connection AND c.day_number = s.day_number
),

observers AS (
    SELECT observer, day_number
    FROM told
    GROUP BY observer, day_number
    HAVING
        COUNT(*) FILTER (WHERE only_grows) > 0
        AND 10 * COUNT(*) FILTER (WHERE record_count >= 3 AND NOT never_falls)
        <= COUNT(*) FILTER (WHERE only_grows)
)

SELECT
    t.connection,
    t.day_number,
    CASE
        WHEN o.observer IS NOT NULL AND t.never_falls THEN 'delta_only_grows'
        ELSE 'interleaved_observers'
    END AS kind
FROM told AS t
LEFT JOIN observers AS o ON t.observer = o.observer AND t.day_number = o.day_number
WHERE t.is_mixed OR (o.observer IS NOT NULL AND t.never_falls)
