-- Body bytes of the requests that ended within each part of a stage.
-- Grain: one part with a request that ended in it.
-- Reads: wait_attempts, wait_stages, wait_tiles.
WITH ended AS (
    -- A stage ends at a whole second, too: which one a request ended in, both cut ends tell.
    SELECT t.stage_id, LEAST(a.end_us, t.end_us) AS us, a.moved_bytes
    FROM wait_attempts AS a
    INNER JOIN wait_stages AS t
        ON a.cluster = t.cluster
        AND a.pod_uid = t.pod_uid
        AND t.is_painted
        AND a.logged_end_us > t.start_us
        AND a.logged_end_us <= t.end_us
        AND (
            a.container = t.container
            OR (a.container IS NULL AND t.container_role IN ('init', 'main'))
        )
    WHERE a.activity = 'object_access' AND a.moved_bytes IS NOT NULL
),

points AS (
    -- What ends where a part begins belongs to the part before.
    SELECT stage_id, us, 0 AS place, CAST(NULL AS HUGEINT) AS number, moved_bytes FROM ended
    UNION ALL
    SELECT
        stage_id, start_us AS us, 1 AS place, CAST(number AS HUGEINT) AS number,
        CAST(NULL AS BIGINT) AS moved_bytes
    FROM wait_tiles
    WHERE stage_id IN (SELECT stage_id FROM ended)
),

carried AS (
    SELECT
        stage_id, moved_bytes,
        MAX(number) OVER (
            PARTITION BY stage_id ORDER BY us, place
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM points
)

SELECT stage_id, number, SUM(moved_bytes) AS moved_bytes
FROM carried
WHERE moved_bytes IS NOT NULL
GROUP BY stage_id, number
