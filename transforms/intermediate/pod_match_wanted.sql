-- Addresses that are asked for, and from when to when.
-- Grain: cluster (`*` for items that know none), address; `place` numbers them.
-- Reads: match_input.
-- Parameters: $from_us and $until_us (nothing outside is matched, so that a wild time cannot make
--   endless buckets).
SELECT
    COALESCE(cluster, '*') AS key_cluster,
    address,
    ROW_NUMBER() OVER () AS place,
    MIN(epoch_us(event_at)) AS from_us,
    MAX(epoch_us(event_at)) + 1 AS until_us
FROM match_input
WHERE
    address IS NOT NULL
    AND epoch_us(event_at) >= CAST($from_us AS BIGINT)
    AND epoch_us(event_at) < CAST($until_us AS BIGINT)
GROUP BY COALESCE(cluster, '*'), address
