-- How many bytes of the same content were fetched before each fetch of the day in each scope, and
-- the latest of these fetches. `loose`: the latest whose ranges are not known. `lost`: the latest
-- whose place is not known, which may have been there.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_day, repeat_before, repeat_old.
SELECT
    d.wanted_number,
    d.fetch_number,
    d.start_us,
    d.scope,
    d.place_number,
    COALESCE(d.bytes, 0) + COALESCE(b.bytes, 0) - COALESCE(o.bytes, 0) AS bytes,
    COALESCE(d.latest, b.latest) AS latest,
    COALESCE(d.loose, b.loose) AS loose,
    COALESCE(d.lost, l.latest) AS lost
FROM repeat_day AS d
LEFT JOIN repeat_before AS b
    ON d.wanted_number = b.wanted_number
    AND d.scope = b.scope
    AND d.place_number = b.place_number
    AND d.content = b.content
LEFT JOIN (SELECT * FROM repeat_before WHERE place_number IS NULL) AS l
    ON d.wanted_number = l.wanted_number
    AND d.scope = l.scope
    AND d.content = l.content
LEFT JOIN repeat_old AS o
    ON d.wanted_number = o.wanted_number
    AND d.scope = o.scope
    AND d.fetch_number = o.fetch_number
