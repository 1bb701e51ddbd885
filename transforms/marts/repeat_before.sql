-- What was fetched of a content on the days before, summed up: only the sum, the latest fetch and
-- the latest of unknown ranges count.
-- Grain: one thing, content, scope and place.
-- Reads: repeat_scoped.
SELECT
    wanted_number, scope, place_number, content,
    SUM(bytes) AS bytes,
    MAX(fetch_number) FILTER (WHERE has_read) AS latest,
    MAX(fetch_number) FILTER (WHERE is_loose) AS loose
FROM repeat_scoped
WHERE is_before
GROUP BY wanted_number, scope, place_number, content
