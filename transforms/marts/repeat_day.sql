-- What was fetched of a content before each fetch, on the day on which that fetch began. Order:
-- start, then id.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_scoped.
WITH members AS (
    SELECT
        wanted_number, scope, fetch_number,
        MAX(start_us) AS start_us,
        MAX(place_number) AS place_number,
        MAX(content) AS content,
        SUM(bytes) AS bytes,
        BOOL_OR(has_read) AS has_read,
        BOOL_OR(is_loose) AS is_loose
    FROM repeat_scoped
    WHERE NOT is_before
    GROUP BY wanted_number, scope, fetch_number
),

-- Most things are fetched once a day: nothing comes before such a fetch on its day.
crowds AS (
    SELECT wanted_number
    FROM members
    WHERE scope = 'fleet'
    GROUP BY wanted_number
    HAVING COUNT(*) > 1
),

crowded AS (
    SELECT
        wanted_number, scope, place_number, content, fetch_number, start_us,
        SUM(bytes) OVER in_place AS bytes,
        MAX(CASE WHEN has_read THEN fetch_number END) OVER in_place AS latest,
        MAX(CASE WHEN is_loose THEN fetch_number END) OVER in_place AS loose,
        MAX(CASE WHEN has_read AND place_number IS NULL THEN fetch_number END) OVER anywhere AS lost
    FROM members
    WHERE wanted_number IN (SELECT wanted_number FROM crowds)
    WINDOW
        in_place AS (
            PARTITION BY wanted_number, scope, place_number, content ORDER BY fetch_number
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        anywhere AS (
            PARTITION BY wanted_number, scope, content ORDER BY fetch_number
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)

SELECT * FROM crowded
UNION ALL
SELECT
    wanted_number, scope, place_number, content, fetch_number, start_us,
    NULL AS bytes, NULL AS latest, NULL AS loose, NULL AS lost
FROM members
WHERE wanted_number NOT IN (SELECT wanted_number FROM crowds)
