-- Things of which some fetch tells its ranges; a whole read has one. Where all ranges of a thing, cut
-- at each other's ends, come to more pieces than are worth comparing, only the sums of bytes count,
-- as if no offset were known.
-- Grain: wanted_number.
-- Reads: object_reads (days of the look-back), repeat_wanted.
-- Parameters: $piece_limit (of one thing).
WITH marked AS (
    SELECT w.wanted_number, t.is_complete, t.object_size_bytes, t.read_ranges
    FROM object_reads AS t
    INNER JOIN repeat_wanted AS w
        ON t.provider = w.provider AND t.object_id = w.object_id
    WHERE t.read_ranges IS NOT NULL OR t.is_complete
),

parts AS (
    SELECT
        wanted_number,
        UNNEST(
            CASE
                WHEN is_complete THEN [{'start': 0, 'stop': object_size_bytes, 'count': 1}]
                ELSE read_ranges
            END
        ) AS part
    FROM marked
    WHERE wanted_number IN (SELECT wanted_number FROM marked WHERE read_ranges IS NOT NULL)
),

edges AS (
    SELECT wanted_number, part.start AS byte, -1 AS step
    FROM parts
    UNION ALL
    SELECT wanted_number, part.stop, 1
    FROM parts
),

-- A range has as many pieces as its end is places behind its beginning.
placed AS (
    SELECT
        wanted_number,
        SUM(step) AS step,
        ROW_NUMBER() OVER (PARTITION BY wanted_number ORDER BY byte) AS place
    FROM edges
    GROUP BY wanted_number, byte
)

SELECT wanted_number
FROM placed
GROUP BY wanted_number
HAVING SUM(step * place) <= CAST($piece_limit AS BIGINT)
