-- Reads with the number of the cache that they ask, and of the content in it.
-- Grain: one read whose place is known, in order of time.
-- Reads: cache_reads.
-- Parameters: $placement (`node`, `zone` or `region`).
WITH placed AS (
    SELECT
        rowid AS number, read_bytes, object_size_bytes, content,
        CASE CAST($placement AS VARCHAR)
            WHEN 'node' THEN node WHEN 'zone' THEN zone ELSE region
        END AS place
    FROM cache_reads
)

SELECT
    number,
    COALESCE(object_size_bytes, -1) AS size_bytes,
    CAST(DENSE_RANK() OVER (ORDER BY place) - 1 AS INTEGER) AS place_number,
    CAST(DENSE_RANK() OVER (ORDER BY place, content) - 1 AS INTEGER) AS item_number
FROM placed
WHERE place IS NOT NULL
ORDER BY number
