-- The statements about a place merged into disjoint stretches, three times: what is covered; what
-- is covered or in doubt; what is spoken of at all. So exports that fill one table are united.
-- Grain: one stretch of one place, source and level (1 covered, 2 or in doubt, 3 or missing).
-- Reads: coverage_intervals.
WITH levelled AS (
    SELECT i.*, l.level
    FROM coverage_intervals AS i
    INNER JOIN (VALUES (1), (2), (3)) AS l (level) ON i.doubt <= l.level
),

marked AS (
    SELECT
        *,
        CASE
            WHEN start_us <= MAX(end_us) OVER (
                PARTITION BY date, cluster, node, source, level ORDER BY start_us, end_us
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0
            ELSE 1
        END AS is_first
    FROM levelled
),

-- Equal ones come in any order, so that they are counted together.
numbered AS (
    SELECT
        *,
        SUM(is_first) OVER (
            PARTITION BY date, cluster, node, source, level ORDER BY start_us, end_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM marked
)

SELECT
    date, cluster, node, source, level, MIN(start_us) AS start_us, MAX(end_us) AS end_us
FROM numbered
GROUP BY date, cluster, node, source, level, island
