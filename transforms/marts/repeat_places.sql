-- A number for each run, node, zone and region, so that their texts are compared once.
-- Grain: one text.
-- Reads: repeat_told.
SELECT ROW_NUMBER() OVER (ORDER BY place) AS place_number, place
FROM (
    SELECT run_uuid AS place FROM repeat_told
    UNION
    SELECT node_key FROM repeat_told
    UNION
    SELECT reader_zone FROM repeat_told
    UNION
    SELECT reader_region FROM repeat_told
)
WHERE place IS NOT NULL
