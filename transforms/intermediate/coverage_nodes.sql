-- What Hubble's files say of each node's day, as statements that may overlap.
-- `rank` tells which statement counts where several hold (see node_coverage.sql).
-- Grain: one statement.
-- Reads: coverage_files, coverage_chains, coverage_partial, coverage_losses, pod_intervals.
-- Parameters: $cluster, $date, $day_start, $day_end, $has_flows.
WITH bounds AS (
    SELECT
        epoch_us(CAST($day_start AS TIMESTAMPTZ)) AS day_start_us,
        epoch_us(CAST($day_end AS TIMESTAMPTZ)) AS day_end_us
),

chains AS (
    SELECT c.node, c.start_us, c.end_us, p.status, p.reason
    FROM coverage_chains AS c
    CROSS JOIN bounds AS b
    LEFT JOIN coverage_partial AS p ON c.node = p.node AND c.export = p.export
    WHERE c.start_us < b.day_end_us AND c.end_us > b.day_start_us
),

-- Files whose records have no time, by the day on which they landed.
timeless AS (
    SELECT node, CAST(SUM(masked_count) AS BIGINT) AS masked_count
    FROM coverage_files
    WHERE first_us IS NULL AND masked_count > 0 AND landing_date = CAST($date AS DATE)
    GROUP BY node
),

nodes AS (
    SELECT DISTINCT node
    FROM pod_intervals
    WHERE
        date = CAST($date AS DATE) AND cluster = $cluster AND node IS NOT NULL
    UNION
    SELECT node FROM chains
    UNION
    SELECT node FROM timeless
),

edges AS (
    SELECT node, MIN(start_us) AS first_us, MAX(end_us) AS last_us
    FROM chains
    GROUP BY node
),

-- Everything is missing but what a chain covers; the reason depends on the place. Records without a
-- time may be of any of it.
absences AS (
    SELECT
        n.node, b.day_start_us AS start_us, b.day_end_us AS end_us,
        CASE WHEN t.node IS NULL THEN 'missing' ELSE 'masked' END AS status,
        CASE
            WHEN t.node IS NOT NULL THEN 'records without a time'
            WHEN e.node IS NULL THEN 'no file'
            ELSE 'gap between files'
        END AS reason,
        COALESCE(t.masked_count, 0) AS masked_count
    FROM nodes AS n
    CROSS JOIN bounds AS b
    LEFT JOIN edges AS e ON n.node = e.node
    LEFT JOIN timeless AS t ON n.node = t.node
),

statements AS (
    SELECT
        node, start_us, end_us, 0 AS rank, status, reason,
        CAST(NULL AS BIGINT) AS lost_count, masked_count
    FROM absences
    UNION ALL
    SELECT
        e.node, b.day_start_us, e.first_us, 1, 'missing', 'before the first event', NULL, 0
    FROM edges AS e
    CROSS JOIN bounds AS b
    WHERE e.first_us > b.day_start_us
    UNION ALL
    SELECT e.node, e.last_us, b.day_end_us, 1, 'missing', 'after the last event', NULL, 0
    FROM edges AS e
    CROSS JOIN bounds AS b
    WHERE e.last_us < b.day_end_us
    UNION ALL
    SELECT node, start_us, end_us, 2, 'covered', NULL, NULL, 0
    FROM chains
    WHERE status IS NULL
    UNION ALL
    -- What another export covers is covered.
    SELECT node, start_us, end_us, 1, status, reason, NULL, 0
    FROM chains
    WHERE status IS NOT NULL
    UNION ALL
    -- Any event of such a file may be one that has lost its time or its ends.
    SELECT
        f.node, f.first_us, GREATEST(f.last_us, f.first_us + 1), 3, 'masked',
        'records without a time or without ends', NULL, CAST(f.masked_count AS BIGINT)
    FROM coverage_files AS f
    WHERE f.masked_count > 0 AND f.first_us IS NOT NULL
    UNION ALL
    SELECT
        n.node, l.start_us, l.end_us,
        CASE l.kind WHEN 'sampled' THEN 4 WHEN 'rotated_away' THEN 6 ELSE 5 END,
        CASE l.kind WHEN 'sampled' THEN 'sampled' WHEN 'rotated_away' THEN 'missing' ELSE 'lossy' END,
        l.reason, l.lost_count, 0
    FROM coverage_losses AS l
    INNER JOIN nodes AS n ON COALESCE(l.node, n.node) = n.node
    WHERE l.source = 'flows'
)

SELECT 'flows' AS source, node, start_us, end_us, rank, status, reason, lost_count, masked_count,
    CAST(NULL AS BIGINT) AS sampled_one_in
FROM statements
WHERE start_us < end_us AND CAST($has_flows AS BOOLEAN)
