-- Zone and region of nodes; null where their states disagree or have no label.
-- Grain: one node.
-- Reads: node_states, pod_intervals.
WITH stated AS (
    SELECT cluster, node, zone, region FROM node_states
    UNION ALL
    SELECT cluster, node, zone, region FROM pod_intervals
)

SELECT
    cluster,
    node,
    CASE WHEN MIN(zone) = MAX(zone) THEN MIN(zone) END AS zone,
    CASE WHEN MIN(region) = MAX(region) THEN MIN(region) END AS region
FROM stated
WHERE cluster IS NOT NULL AND node IS NOT NULL
GROUP BY cluster, node
