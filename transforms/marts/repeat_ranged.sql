-- Things of which some fetch tells its ranges; a whole read has one. Of a thing with more of them
-- than are worth comparing only the sums of bytes count, as if no offset were known.
-- Grain: wanted_number.
-- Reads: object_transfers (days of the look-back), repeat_wanted.
-- Parameters: $part_limit (of one thing).
SELECT w.wanted_number
FROM object_transfers AS t
INNER JOIN repeat_wanted AS w
    ON t.provider = w.provider AND t.object_id = w.object_id
WHERE t.operation = 'read' AND (t.read_ranges IS NOT NULL OR t.is_complete)
GROUP BY w.wanted_number
HAVING
    BOOL_OR(t.read_ranges IS NOT NULL)
    AND SUM(COALESCE(LEN(t.read_ranges), 1)) <= CAST($part_limit AS BIGINT)
