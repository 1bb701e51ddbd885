-- Who observed records, with a number in place of the text.
-- Grain: cluster (null: fleet), observer, format.
-- Reads: volume_intervals.
-- Parameters: $start_us and $end_us (the day).
WITH seen AS (
    SELECT DISTINCT cluster, name, source_format
    FROM volume_intervals
    WHERE from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
)

SELECT
    CAST(ROW_NUMBER() OVER () AS INTEGER) AS observer_number,
    cluster,
    COALESCE(cluster, 'fleet') AS scope,
    name,
    source_format,
    -- One name under two formats is two observers, whose bytes are never added.
    CASE
        WHEN COUNT(*) OVER (PARTITION BY cluster, name) > 1 THEN name || '/' || source_format
        ELSE name
    END AS observer
FROM seen
