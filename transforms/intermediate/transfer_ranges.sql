-- Parts of the object that bursts moved on the day, where the place of all their bytes is known.
-- Parts that touch and were moved equally often are one. Bursts of more parts have none, as the
-- engine cannot spill lists.
-- Grain: one such burst.
-- Reads: transfer_matched, transfer_bursts, transfer_sums.
-- Parameters: $range_limit (of one burst).
WITH edges AS (
    SELECT
        s.first_number,
        e.edge.byte AS byte,
        SUM(e.edge.step) AS step
    FROM transfer_sums AS s
    INNER JOIN transfer_matched AS m
        ON s.group_number = m.group_number
        AND s.holder = m.holder
        AND s.is_complete = m.is_complete
    INNER JOIN transfer_bursts AS b ON m.rowid = b.number AND s.burst_number = b.burst_number
    CROSS JOIN LATERAL UNNEST([
        {'byte': m.offset_bytes, 'step': 1},
        {'byte': m.offset_bytes + m.moved_bytes, 'step': -1}
    ]) AS e (edge)
    WHERE s.has_ranges AND m.is_today AND m.offset_bytes IS NOT NULL
    GROUP BY s.first_number, e.edge.byte
),

levels AS (
    SELECT
        first_number,
        byte AS start,
        LEAD(byte) OVER along AS stop,
        SUM(step) OVER along AS count
    FROM edges
    WHERE step <> 0
    WINDOW along AS (PARTITION BY first_number ORDER BY byte)
),

parts AS (
    SELECT first_number, start, stop, CAST(count AS BIGINT) AS count
    FROM levels
    WHERE count > 0
),

few AS (
    SELECT first_number
    FROM parts
    GROUP BY first_number
    HAVING COUNT(*) <= CAST($range_limit AS BIGINT)
)

SELECT
    first_number,
    LIST({'start': start, 'stop': stop, 'count': count} ORDER BY start) AS read_ranges
FROM parts
WHERE first_number IN (SELECT first_number FROM few)
GROUP BY first_number
