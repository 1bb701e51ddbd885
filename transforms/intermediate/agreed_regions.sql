-- Region of each cluster by the settings, unless one of its nodes says another (definitions.md 30).
-- Grain: cluster.
-- Reads: cluster_regions, node_places.
SELECT c.cluster, c.region
FROM cluster_regions AS c
WHERE NOT EXISTS (
    SELECT 1 FROM node_places AS n WHERE n.cluster = c.cluster AND n.region <> c.region
)
