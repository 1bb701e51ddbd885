-- What was fetched of a content before each fetch, on the day on which that fetch began. Order:
-- start, then id.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_placed.
WITH fetches AS (
    SELECT
        wanted_number, fetch_number,
        MAX(start_us) AS start_us,
        MAX(run_place) AS run_place,
        MAX(node_place) AS node_place,
        MAX(zone_place) AS zone_place,
        MAX(region_place) AS region_place,
        MAX(content) AS content,
        SUM(bytes) AS bytes,
        BOOL_OR(has_read) AS has_read,
        BOOL_OR(is_loose) AS is_loose
    FROM repeat_placed
    WHERE NOT is_before
    GROUP BY wanted_number, fetch_number
),

members AS (
    SELECT
        f.wanted_number, s.scope, s.scope_number, f.fetch_number, f.start_us,
        place_of_scope(s.scope, f.run_place, f.node_place, f.zone_place, f.region_place)
            AS place_number,
        f.content, f.bytes, f.has_read, f.is_loose
    FROM fetches AS f
    CROSS JOIN (
        VALUES ('run', 1), ('node', 2), ('zone', 3), ('region', 4), ('fleet', 5)
    ) AS s (scope, scope_number)
),

-- Most things are fetched once a day: nothing comes before such a fetch on its day.
crowds AS (
    SELECT wanted_number
    FROM fetches
    GROUP BY wanted_number
    HAVING COUNT(*) > 1
),

-- Most places are known.
unplaced AS (
    SELECT DISTINCT wanted_number, scope_number, content
    FROM members
    WHERE place_number IS NULL AND has_read AND wanted_number IN (SELECT wanted_number FROM crowds)
),

beside AS (
    SELECT
        m.wanted_number, m.scope_number, m.fetch_number,
        MAX(CASE WHEN m.has_read AND m.place_number IS NULL THEN m.fetch_number END) OVER (
            PARTITION BY m.wanted_number, m.scope_number, m.content ORDER BY m.fetch_number
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS lost
    FROM members AS m
    INNER JOIN unplaced AS u
        ON m.wanted_number = u.wanted_number
        AND m.scope_number = u.scope_number
        AND m.content = u.content
),

crowded AS (
    SELECT
        wanted_number, scope, scope_number, place_number, content, fetch_number, start_us,
        SUM(bytes) OVER in_place AS bytes,
        MAX(CASE WHEN has_read THEN fetch_number END) OVER in_place AS latest,
        MAX(CASE WHEN is_loose THEN fetch_number END) OVER in_place AS loose
    FROM members
    WHERE wanted_number IN (SELECT wanted_number FROM crowds)
    WINDOW in_place AS (
        PARTITION BY wanted_number, scope_number, place_number, content ORDER BY fetch_number
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)

SELECT
    c.wanted_number, c.scope, c.place_number, c.content, c.fetch_number, c.start_us,
    c.bytes, c.latest, c.loose, b.lost
FROM crowded AS c
LEFT JOIN beside AS b
    ON c.wanted_number = b.wanted_number
    AND c.scope_number = b.scope_number
    AND c.fetch_number = b.fetch_number
UNION ALL
SELECT
    wanted_number, scope, place_number, content, fetch_number, start_us,
    NULL AS bytes, NULL AS latest, NULL AS loose, NULL AS lost
FROM members
WHERE wanted_number NOT IN (SELECT wanted_number FROM crowds)
