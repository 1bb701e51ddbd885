-- What ranges tell of each fetch of the day: how many of its bytes, this day and before, an earlier
-- fetch of the scope had moved, and how many different bytes the ranges of earlier ones hold.
-- Grain: one fetch of the day and scope, where an earlier fetch has ranges.
-- Reads: repeat_pieces, repeat_day.
-- Parameters: $date, $look_back_us.
WITH scoped AS (
    SELECT
        p.wanted_number, p.content, p.fetch_number, p.start_us, p.is_told, p.own_date, p.start,
        p.length, p.count, s.scope,
        CASE s.scope
            WHEN 'run' THEN p.run_place
            WHEN 'node' THEN p.node_place
            WHEN 'zone' THEN p.zone_place
            WHEN 'region' THEN p.region_place
            ELSE 0
        END AS place_number
    FROM repeat_pieces AS p
    CROSS JOIN (VALUES ('run'), ('node'), ('zone'), ('region'), ('fleet')) AS s (scope)
),

looked AS (
    SELECT
        *,
        MAX(CASE WHEN is_told THEN start_us END) OVER (
            in_place RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_us,
        MIN(CASE WHEN is_told THEN start_us END) OVER (
            in_place RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS after_us
    FROM scoped
    WHERE place_number IS NOT NULL
    WINDOW in_place AS (
        PARTITION BY wanted_number, scope, place_number, content, start ORDER BY fetch_number
    )
),

again AS (
    SELECT
        wanted_number, scope, fetch_number,
        SUM(CASE WHEN own_date = CAST($date AS DATE) THEN moved ELSE 0 END) AS bytes,
        SUM(CASE WHEN own_date < CAST($date AS DATE) THEN moved ELSE 0 END) AS earlier_bytes
    FROM (SELECT *, CAST(count AS HUGEINT) * length AS moved FROM looked)
    WHERE own_date IS NOT NULL AND before_us >= start_us - CAST($look_back_us AS BIGINT)
    GROUP BY wanted_number, scope, fetch_number
),

-- The scope holds a piece from a fetch that finds it in no look-back to the end of the look-back
-- of a fetch after which none finds it. A fetch may hold a piece on two of its days.
turns AS (
    SELECT DISTINCT
        wanted_number, scope, place_number, content, fetch_number, start_us, start, length,
        COALESCE(before_us < start_us - CAST($look_back_us AS BIGINT), TRUE) AS is_gain,
        COALESCE(after_us > start_us + CAST($look_back_us AS BIGINT), TRUE) AS is_loss
    FROM looked
    WHERE is_told
),

turned AS (
    SELECT
        wanted_number, scope, place_number, content, fetch_number, start_us,
        SUM(CASE WHEN is_gain THEN length ELSE 0 END) AS gained_bytes,
        SUM(CASE WHEN is_loss THEN length ELSE 0 END) AS lost_bytes
    FROM turns
    WHERE is_gain OR is_loss
    GROUP BY wanted_number, scope, place_number, content, fetch_number, start_us
),

held AS (
    SELECT
        d.wanted_number, d.scope, d.fetch_number,
        SUM(t.gained_bytes)
        - SUM(
            CASE
                WHEN t.start_us < d.start_us - CAST($look_back_us AS BIGINT) THEN t.lost_bytes
                ELSE 0
            END
        ) AS bytes
    FROM repeat_day AS d
    INNER JOIN turned AS t
        ON d.wanted_number = t.wanted_number
        AND d.scope = t.scope
        AND d.place_number = t.place_number
        AND d.content = t.content
        AND d.fetch_number > t.fetch_number
    GROUP BY d.wanted_number, d.scope, d.fetch_number
)

SELECT
    COALESCE(a.wanted_number, h.wanted_number) AS wanted_number,
    COALESCE(a.scope, h.scope) AS scope,
    COALESCE(a.fetch_number, h.fetch_number) AS fetch_number,
    COALESCE(a.bytes, 0) AS again_bytes,
    COALESCE(a.earlier_bytes, 0) AS again_earlier_bytes,
    COALESCE(h.bytes, 0) AS held_bytes
FROM again AS a
FULL OUTER JOIN held AS h
    ON a.wanted_number = h.wanted_number
    AND a.scope = h.scope
    AND a.fetch_number = h.fetch_number
