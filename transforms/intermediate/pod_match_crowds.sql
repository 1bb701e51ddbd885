-- What a shared stretch says of an item that states no name.
-- Grain: one stretch, by its number in pod_match_holders.
-- Reads: pod_match_members, pod_match_pods, pod_match_nodes.
WITH nodes AS (
    SELECT DISTINCT node_number, cluster, node
    FROM pod_match_nodes
),

crowds AS (
    SELECT
        m.outcome,
        LIST_SORT(LIST(DISTINCT p.pod_uid) FILTER (WHERE m.is_pod)) AS pods,
        LIST_SORT(LIST(DISTINCT p.pod_uid) FILTER (WHERE NOT m.is_pod AND m.holder > 0))
            AS host_pods,
        COUNT(DISTINCT n.node_number) AS nodes,
        MIN(n.cluster) AS node_cluster,
        MIN(n.node) AS node
    FROM pod_match_members AS m
    LEFT JOIN pod_match_pods AS p ON m.holder = p.pod_number
    LEFT JOIN nodes AS n ON -m.holder = n.node_number
    GROUP BY m.outcome
)

SELECT
    outcome,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node_cluster END AS cluster,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node END AS node,
    CASE WHEN pods IS NULL THEN 'node' ELSE 'ambiguous' END AS match_kind,
    COALESCE(pods, host_pods) AS candidate_pod_uids
FROM crowds
