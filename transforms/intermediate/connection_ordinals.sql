-- Connections of the day with their number among those of their tuple that began that date.
-- Grain: one connection with an event on the day.
-- Reads: connection_segments, connection_tuples.
-- Parameters: $from_us (start of the look-back), $end_us (end of the day), $silence_us.
WITH reached AS (
    SELECT
        *,
        -- Where nothing can tell a start, silence before the first event does.
        COALESCE(
            is_start_seen,
            first_us > CAST($from_us AS BIGINT) + CAST($silence_us AS BIGINT)
        ) AS is_reached,
        first_us // 86400000000 AS start_day
    FROM connection_segments
),

-- Nearly all tuples have one connection, which is the first of its date and followed by none.
crowded AS (
    SELECT tuple
    FROM connection_segments
    GROUP BY tuple
    HAVING COUNT(*) > 1
),

numbered AS (
    SELECT
        tuple, initiator_is_a, segment,
        LEAD(first_us) OVER (PARTITION BY tuple, initiator_is_a ORDER BY segment)
            < CAST($end_us AS BIGINT) AS is_followed,
        ROW_NUMBER() OVER (
            PARTITION BY tuple, initiator_is_a, start_day, is_reached ORDER BY segment
        ) AS ordinal
    FROM reached
    WHERE tuple IN (SELECT tuple FROM crowded)
)

SELECT
    CAST(ROW_NUMBER() OVER () AS BIGINT) AS connection,
    CASE WHEN n.initiator_is_a THEN t.a_address ELSE t.b_address END AS initiator_address,
    CASE WHEN n.initiator_is_a THEN t.a_port ELSE t.b_port END AS initiator_port,
    CASE WHEN n.initiator_is_a THEN t.b_address ELSE t.a_address END AS responder_address,
    CASE WHEN n.initiator_is_a THEN t.b_port ELSE t.a_port END AS responder_port,
    n.*,
    o.is_followed,
    CASE WHEN n.is_reached THEN COALESCE(o.ordinal, 1) ELSE 0 END AS ordinal
FROM reached AS n
INNER JOIN connection_tuples AS t USING (tuple)
LEFT JOIN numbered AS o
    ON n.tuple = o.tuple
    AND n.initiator_is_a = o.initiator_is_a
    AND n.segment = o.segment
WHERE n.event_count > 0
