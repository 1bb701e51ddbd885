-- Ranges cut where any range of the same content begins or ends, so that two pieces are of equal
-- bytes or of none.
-- Grain: one piece of a range of repeat_parts.
-- Reads: repeat_parts.
WITH edges AS (
    SELECT DISTINCT wanted_number, content, UNNEST([start, stop]) AS byte
    FROM repeat_parts
),

cuts AS (
    SELECT
        wanted_number, content, byte,
        LEAD(byte) OVER (PARTITION BY wanted_number, content ORDER BY byte) AS next_byte
    FROM edges
)

SELECT
    p.* EXCLUDE (start, stop),
    c.byte AS start,
    c.next_byte - c.byte AS length
FROM repeat_parts AS p
INNER JOIN cuts AS c
    ON p.wanted_number = c.wanted_number
    AND p.content = c.content
    AND p.start <= c.byte
    AND p.stop > c.byte
