-- Fetches of repeat_told as numbers alone, with the content that each fetched.
-- Grain: one row of repeat_told.
-- Reads: repeat_told, repeat_contents, repeat_places.
SELECT
    t.wanted_number,
    t.fetch_number,
    t.start_us,
    t.is_before,
    t.bytes,
    t.has_read,
    t.is_loose,
    COALESCE(c.content, 0) AS content,
    r.place_number AS run_place,
    n.place_number AS node_place,
    z.place_number AS zone_place,
    g.place_number AS region_place
FROM repeat_told AS t
LEFT JOIN repeat_contents AS c
    ON t.wanted_number = c.wanted_number AND t.transfer_id = c.transfer_id
LEFT JOIN repeat_places AS r ON t.run_uuid = r.place
LEFT JOIN repeat_places AS n ON t.node_key = n.place
LEFT JOIN repeat_places AS z ON t.reader_zone = z.place
LEFT JOIN repeat_places AS g ON t.reader_region = g.place
