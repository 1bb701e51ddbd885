-- What a stretch says that no single pod holds: several pods, a node, or, as number 0, nobody.
-- Grain: one stretch, by its number in pod_match_holders. `cluster` and `node` where one node holds
-- the address; `candidates`: UIDs, chr(31) between them.
-- Reads: pod_match_holders, pod_match_claims, pod_match_pods, pod_match_nodes.
WITH nodes AS (
    SELECT DISTINCT node_number, cluster, node
    FROM pod_match_nodes
),

crowds AS (
    SELECT
        h.owner,
        LIST_SORT(LIST(DISTINCT p.pod_uid) FILTER (WHERE c.is_pod)) AS pods,
        LIST_SORT(LIST(DISTINCT p.pod_uid) FILTER (WHERE NOT c.is_pod)) AS host_pods,
        COUNT(DISTINCT n.node_number) AS nodes,
        MIN(n.cluster) AS node_cluster,
        MIN(n.node) AS node
    FROM pod_match_holders AS h
    INNER JOIN pod_match_claims AS c
        ON h.place = c.place
        AND h.start_us >= c.start_us
        AND h.start_us < c.end_us
    LEFT JOIN pod_match_pods AS p ON c.holder = p.owner
    LEFT JOIN nodes AS n ON -c.holder = n.node_number
    WHERE h.owner < 0
    GROUP BY h.owner
)

SELECT
    owner,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node_cluster END AS cluster,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node END AS node,
    CASE WHEN pods IS NULL THEN 'node' ELSE 'ambiguous' END AS match_kind,
    ARRAY_TO_STRING(COALESCE(pods, host_pods), CHR(31)) AS candidates
FROM crowds
UNION ALL
SELECT 0, NULL, NULL, 'none', NULL
