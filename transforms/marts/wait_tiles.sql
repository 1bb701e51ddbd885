-- Stages cut where what they waited for changes. At each moment the first cause in the order of
-- definitions.md 43 counts; of several resources with that cause none is named.
-- Grain: one part of one stage; the parts tile it.
-- Reads: wait_islands, wait_stages.
WITH changes AS (
    SELECT stage_id, rank, island, start_us AS us, 1 AS delta FROM wait_islands
    UNION ALL
    SELECT stage_id, rank, island, end_us AS us, -1 AS delta FROM wait_islands
    UNION ALL
    SELECT stage_id, -1 AS rank, 0 AS island, start_us AS us, 0 AS delta FROM wait_stages
    UNION ALL
    SELECT stage_id, -1 AS rank, 0 AS island, end_us AS us, 0 AS delta FROM wait_stages
),

moments AS (
    SELECT
        stage_id, us,
        SUM(CASE WHEN rank = 0 THEN delta ELSE 0 END) AS n0,
        SUM(CASE WHEN rank = 1 THEN delta ELSE 0 END) AS n1,
        SUM(CASE WHEN rank = 2 THEN delta ELSE 0 END) AS n2,
        SUM(CASE WHEN rank = 3 THEN delta ELSE 0 END) AS n3,
        SUM(CASE WHEN rank = 4 THEN delta ELSE 0 END) AS n4,
        SUM(CASE WHEN rank = 5 THEN delta ELSE 0 END) AS n5,
        SUM(CASE WHEN rank = 6 THEN delta ELSE 0 END) AS n6,
        SUM(CASE WHEN rank = 0 THEN delta * island ELSE 0 END) AS i0,
        SUM(CASE WHEN rank = 1 THEN delta * island ELSE 0 END) AS i1,
        SUM(CASE WHEN rank = 2 THEN delta * island ELSE 0 END) AS i2,
        SUM(CASE WHEN rank = 3 THEN delta * island ELSE 0 END) AS i3,
        SUM(CASE WHEN rank = 4 THEN delta * island ELSE 0 END) AS i4,
        SUM(CASE WHEN rank = 5 THEN delta * island ELSE 0 END) AS i5,
        SUM(CASE WHEN rank = 6 THEN delta * island ELSE 0 END) AS i6
    FROM changes
    GROUP BY stage_id, us
),

running AS (
    SELECT
        stage_id, us AS start_us,
        LEAD(us) OVER stage AS end_us,
        SUM(n0) OVER stage AS n0, SUM(n1) OVER stage AS n1, SUM(n2) OVER stage AS n2,
        SUM(n3) OVER stage AS n3, SUM(n4) OVER stage AS n4, SUM(n5) OVER stage AS n5,
        SUM(n6) OVER stage AS n6,
        SUM(i0) OVER stage AS i0, SUM(i1) OVER stage AS i1, SUM(i2) OVER stage AS i2,
        SUM(i3) OVER stage AS i3, SUM(i4) OVER stage AS i4, SUM(i5) OVER stage AS i5,
        SUM(i6) OVER stage AS i6
    FROM moments
    WINDOW stage AS (PARTITION BY stage_id ORDER BY us)
),

decided AS (
    SELECT
        stage_id, start_us, end_us,
        CASE
            WHEN n0 > 0 THEN 0 WHEN n1 > 0 THEN 1 WHEN n2 > 0 THEN 2 WHEN n3 > 0 THEN 3
            WHEN n4 > 0 THEN 4 WHEN n5 > 0 THEN 5 WHEN n6 > 0 THEN 6
        END AS rank,
        -- The one island that is there, by its number; 0 where there are several.
        CAST(CASE
            WHEN n0 > 0 THEN CASE WHEN n0 = 1 THEN i0 ELSE 0 END
            WHEN n1 > 0 THEN CASE WHEN n1 = 1 THEN i1 ELSE 0 END
            WHEN n2 > 0 THEN CASE WHEN n2 = 1 THEN i2 ELSE 0 END
            WHEN n3 > 0 THEN CASE WHEN n3 = 1 THEN i3 ELSE 0 END
            WHEN n4 > 0 THEN CASE WHEN n4 = 1 THEN i4 ELSE 0 END
            WHEN n5 > 0 THEN CASE WHEN n5 = 1 THEN i5 ELSE 0 END
            WHEN n6 > 0 THEN CASE WHEN n6 = 1 THEN i6 ELSE 0 END
        END AS BIGINT) AS island
    FROM running
    WHERE end_us > start_us
),

marked AS (
    SELECT
        *,
        CASE
            WHEN
                rank IS NOT DISTINCT FROM LAG(rank) OVER stage
                AND island IS NOT DISTINCT FROM LAG(island) OVER stage
                AND LAG(start_us) OVER stage IS NOT NULL
                THEN 0
            ELSE 1
        END AS begins
    FROM decided
    WINDOW stage AS (PARTITION BY stage_id ORDER BY start_us)
),

numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY stage_id ORDER BY start_us
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM marked
)

SELECT
    stage_id, number,
    MIN(rank) AS rank,
    MIN(island) AS island,
    MIN(start_us) AS start_us,
    MAX(end_us) AS end_us
FROM numbered
GROUP BY stage_id, number
