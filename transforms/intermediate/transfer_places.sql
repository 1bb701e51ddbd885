-- transfer_places: zone and region of every node, else the region that all nodes of its cluster
--   agree on.
-- Grain: (cluster, node).
-- Reads: pod_intervals.
-- Parameters: $date.
WITH nodes AS (
    SELECT cluster, node, MAX(zone) AS zone, MAX(region) AS region
    FROM pod_intervals
    WHERE node IS NOT NULL AND "date" <= $date
    GROUP BY cluster, node
),

clusters AS (
    SELECT
        cluster,
        CASE
            WHEN COUNT(DISTINCT region) = 1 AND COUNT(region) = COUNT(*) THEN MAX(region)
        END AS region
    FROM nodes
    GROUP BY cluster
)

SELECT n.cluster, n.node, n.zone, COALESCE(n.region, c.region) AS region
FROM nodes AS n
INNER JOIN clusters AS c ON n.cluster = c.cluster
