-- What is said of each place at which pods of runs lived: a node where a source speaks of nodes,
-- else the whole cluster. What speaks of a cluster, or of the fleet, holds for each of its nodes.
-- Grain: one statement about one place.
-- Reads: run_pod_times, node_coverage (all days), cluster_names.
-- Parameters: $date.
WITH statements AS (
    SELECT
        n.date, c.cluster, n.source, n.node, n.node_coverage_id, n.lost_count, n.reason,
        epoch_us(n.start_at) AS start_us,
        epoch_us(n.end_at) AS end_us,
        CASE n.status WHEN 'covered' THEN 1 WHEN 'missing' THEN 3 ELSE 2 END AS doubt,
        BOOL_OR(n.node IS NOT NULL) OVER (PARTITION BY n.date, c.cluster, n.source) AS is_by_node
    FROM node_coverage AS n
    INNER JOIN cluster_names AS c ON n.cluster = c.cluster OR n.cluster = 'fleet'
    WHERE n.date <= CAST($date AS DATE) AND n.start_at < n.end_at
),

places AS (
    SELECT DISTINCT date, cluster, node
    FROM run_pod_times
    WHERE node IS NOT NULL
)

SELECT
    s.date, s.cluster, p.node, s.source, s.node_coverage_id, s.lost_count, s.reason, s.start_us,
    s.end_us, s.doubt
FROM statements AS s
INNER JOIN places AS p
    ON s.date = p.date AND s.cluster = p.cluster AND COALESCE(s.node, p.node) = p.node
WHERE s.is_by_node
UNION ALL
SELECT
    date, cluster, CAST(NULL AS VARCHAR) AS node, source, node_coverage_id, lost_count, reason,
    start_us, end_us, doubt
FROM statements
WHERE NOT is_by_node
