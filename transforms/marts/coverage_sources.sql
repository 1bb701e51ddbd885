-- The sources that should have observed a cluster's pods: tables that its exports can fill, and
-- whatever node_coverage speaks of. Logs of object storage count per bucket where one is named.
-- Grain: one source of one cluster.
-- Reads: node_coverage (all days), expected_tables, cluster_names.
-- Parameters: $date.
WITH stated AS (
    SELECT DISTINCT cluster AS scope, source
    FROM node_coverage
    WHERE date <= CAST($date AS DATE)
    UNION
    SELECT scope, source FROM expected_tables
),

of_clusters AS (
    SELECT DISTINCT c.cluster, s.source
    FROM stated AS s
    INNER JOIN cluster_names AS c ON s.scope = c.cluster OR s.scope = 'fleet'
)

SELECT cluster, source
FROM of_clusters AS o
WHERE
    source <> 'object_requests'
    OR NOT EXISTS (
        SELECT 1 FROM of_clusters AS b
        WHERE b.cluster = o.cluster AND STARTS_WITH(b.source, 'object_requests:')
    )
