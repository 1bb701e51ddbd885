-- One interval in which one source covered, or did not cover, one node.
-- Statements up to rank 2 say what is there at all, the greatest counts; those above it cast doubt
-- on what is covered, and rank 6 takes it away.
-- Grain: source, node, start.
-- Reads: coverage_statements.
-- Parameters: $owner, $day_start, $day_end.
WITH bounds AS (
    SELECT
        epoch_us(CAST($day_start AS TIMESTAMPTZ)) AS day_start_us,
        epoch_us(CAST($day_end AS TIMESTAMPTZ)) AS day_end_us
),

statements AS (
    SELECT
        s.*,
        GREATEST(s.start_us, b.day_start_us) AS from_us,
        LEAST(s.end_us, b.day_end_us) AS until_us
    FROM coverage_statements AS s
    CROSS JOIN bounds AS b
    WHERE s.start_us < b.day_end_us AND s.end_us > b.day_start_us
),

edges AS (
    SELECT DISTINCT source, node, UNNEST([from_us, until_us]) AS edge_us
    FROM statements
),

tiles AS (
    SELECT
        source, node, edge_us AS start_us,
        LEAD(edge_us) OVER (PARTITION BY source, node ORDER BY edge_us) AS end_us
    FROM edges
),

told AS (
    SELECT
        t.source, t.node, t.start_us, t.end_us,
        MAX(s.rank) FILTER (WHERE s.rank <= 2) AS base_rank,
        MAX(s.rank) FILTER (WHERE s.rank > 2) AS doubt_rank
    FROM tiles AS t
    INNER JOIN statements AS s
        ON t.source = s.source
        AND t.node IS NOT DISTINCT FROM s.node
        AND t.start_us >= s.from_us
        AND t.start_us < s.until_us
    WHERE t.end_us IS NOT NULL
    GROUP BY t.source, t.node, t.start_us, t.end_us
),

bases AS (
    SELECT
        t.source, t.node, t.start_us, t.end_us, t.doubt_rank,
        MIN(s.status) AS status,
        MIN(s.reason) AS reason
    FROM told AS t
    INNER JOIN statements AS s
        ON t.source = s.source
        AND t.node IS NOT DISTINCT FROM s.node
        AND t.base_rank = s.rank
        AND t.start_us >= s.from_us
        AND t.start_us < s.until_us
    GROUP BY t.source, t.node, t.start_us, t.end_us, t.doubt_rank
),

doubts AS (
    SELECT
        t.source, t.node, t.start_us,
        MIN(s.status) AS status,
        STRING_AGG(DISTINCT s.reason, ', ' ORDER BY s.reason) AS reason,
        MAX(s.sampled_one_in) AS sampled_one_in
    FROM told AS t
    INNER JOIN statements AS s
        ON t.source = s.source
        AND t.node IS NOT DISTINCT FROM s.node
        AND t.doubt_rank = s.rank
        AND t.start_us >= s.from_us
        AND t.start_us < s.until_us
    GROUP BY t.source, t.node, t.start_us
),

-- A count stands once, where what it counts begins.
counts AS (
    SELECT
        t.source, t.node, t.start_us,
        CAST(SUM(s.lost_count) AS BIGINT) AS lost_count,
        CAST(SUM(s.masked_count) AS BIGINT) AS masked_count
    FROM tiles AS t
    INNER JOIN statements AS s
        ON t.source = s.source
        AND t.node IS NOT DISTINCT FROM s.node
        AND s.start_us >= t.start_us
        AND s.start_us < t.end_us
    GROUP BY t.source, t.node, t.start_us
),

judged AS (
    SELECT
        b.source, b.node, b.start_us, b.end_us,
        CASE
            WHEN d.source IS NOT NULL AND (b.status = 'covered' OR b.doubt_rank = 6) THEN d.status
            ELSE b.status
        END AS status,
        CASE
            WHEN d.source IS NOT NULL AND (b.status = 'covered' OR b.doubt_rank = 6) THEN d.reason
            ELSE b.reason
        END AS reason,
        CASE WHEN d.status = 'sampled' AND b.status = 'covered' THEN d.sampled_one_in END
            AS sampled_one_in,
        c.lost_count,
        COALESCE(c.masked_count, 0) AS masked_count
    FROM bases AS b
    LEFT JOIN doubts AS d
        ON b.source = d.source AND b.node IS NOT DISTINCT FROM d.node AND b.start_us = d.start_us
    LEFT JOIN counts AS c
        ON b.source = c.source AND b.node IS NOT DISTINCT FROM c.node AND b.start_us = c.start_us
),

marked AS (
    SELECT
        *,
        CASE
            WHEN
                status = LAG(status) OVER place
                AND reason IS NOT DISTINCT FROM LAG(reason) OVER place
                AND sampled_one_in IS NOT DISTINCT FROM LAG(sampled_one_in) OVER place
                AND start_us = LAG(end_us) OVER place
                THEN 0
            ELSE 1
        END AS begins
    FROM judged
    WINDOW place AS (PARTITION BY source, node ORDER BY start_us)
),

numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY source, node ORDER BY start_us
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM marked
)

SELECT
    row_id([
        id_text($owner), id_text(source), id_text(node), CAST(MIN(start_us) AS VARCHAR)
    ]) AS node_coverage_id,
    CAST($owner AS VARCHAR) AS cluster,
    source,
    node,
    make_timestamptz(MIN(start_us)) AS start_at,
    make_timestamptz(MAX(end_us)) AS end_at,
    MIN(status) AS status,
    CAST(SUM(lost_count) AS BIGINT) AS lost_count,
    CAST(SUM(masked_count) AS BIGINT) AS masked_count,
    1.0 / CAST(MIN(sampled_one_in) AS DOUBLE) AS sampled_ratio,
    MIN(reason) AS reason
FROM numbered
GROUP BY source, node, island
