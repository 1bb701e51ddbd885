-- Which tuples are summed together, and when their events were.
-- Grain: so many tuples, by number.
-- Reads: connection_tuples.
-- Parameters: $at_once (tuples of one slice).
SELECT
    MIN(tuple) AS first_tuple,
    MAX(tuple) AS last_tuple,
    make_timestamptz(MIN(first_us)) AS first_at,
    -- Events have nanoseconds, which an instant in microseconds leaves out.
    make_timestamptz(MAX(last_us) + 1) AS last_at
FROM connection_tuples
GROUP BY (tuple - 1) // CAST($at_once AS BIGINT)
ORDER BY first_tuple
