-- What was fetched of a content on the days before, summed up: only the sum and the latest fetch
-- count.
-- Grain: one thing, content, scope and place.
-- Reads: repeat_scoped.
SELECT
    wanted_number, scope, place_number, content,
    SUM(bytes) AS bytes,
    MAX(fetch_number) FILTER (WHERE has_read) AS latest
FROM repeat_scoped
WHERE is_before
GROUP BY wanted_number, scope, place_number, content
