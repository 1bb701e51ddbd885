-- Stretches of an address that no single pod holds: several pods, or a node.
-- Grain: one stretch, by its number in pod_match_holders.
-- Reads: pod_match_holders, pod_match_claims.
WITH crowds AS (
    SELECT
        h.outcome,
        LIST_SORT(LIST(DISTINCT c.holder) FILTER (WHERE c.holder_kind = 'pod')) AS pods,
        LIST_SORT(LIST(DISTINCT c.holder) FILTER (WHERE c.holder_kind = 'host_pod')) AS host_pods,
        COUNT(DISTINCT {'cluster': c.cluster, 'node': c.holder})
            FILTER (WHERE c.holder_kind = 'node') AS nodes,
        MIN(c.cluster) FILTER (WHERE c.holder_kind = 'node') AS node_cluster,
        MIN(c.holder) FILTER (WHERE c.holder_kind = 'node') AS node
    FROM pod_match_holders AS h
    INNER JOIN pod_match_claims AS c
        ON h.key_cluster = c.key_cluster
        AND h.address = c.address
        AND h.start_us >= c.start_us
        AND h.start_us < c.end_us
    WHERE h.outcome < 0
    GROUP BY h.outcome
)

SELECT
    outcome,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node_cluster END AS cluster,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node END AS node,
    CASE WHEN pods IS NULL THEN 'node' ELSE 'ambiguous' END AS match_kind,
    COALESCE(pods, host_pods) AS candidate_pod_uids
FROM crowds
