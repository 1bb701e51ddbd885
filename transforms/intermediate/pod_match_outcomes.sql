-- What an address alone can say.
-- Grain: one pod (number above 0), nobody (0), or the holders of one stretch (below 0).
-- Reads: pod_match_pods, pod_match_holders, pod_match_claims.
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
    pod_number AS outcome, cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt,
    CAST(NULL AS VARCHAR) AS match_kind,
    CAST(NULL AS VARCHAR[]) AS candidate_pod_uids,
    is_plain
FROM pod_match_pods
UNION ALL
SELECT
    outcome,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node_cluster END AS cluster,
    NULL AS pod_uid, NULL AS namespace, NULL AS pod_name,
    CASE WHEN pods IS NULL AND nodes = 1 THEN node END AS node,
    NULL AS run_uuid, NULL AS attempt,
    CASE WHEN pods IS NULL THEN 'node' ELSE 'ambiguous' END AS match_kind,
    COALESCE(pods, host_pods) AS candidate_pod_uids,
    FALSE AS is_plain
FROM crowds
UNION ALL
SELECT
    0 AS outcome, NULL AS cluster, NULL AS pod_uid, NULL AS namespace, NULL AS pod_name,
    NULL AS node, NULL AS run_uuid, NULL AS attempt, 'none' AS match_kind,
    NULL AS candidate_pod_uids, FALSE AS is_plain
