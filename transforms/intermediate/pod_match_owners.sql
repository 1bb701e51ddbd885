-- Who a record can mean: what is newest known of each pod, several of them, a node, and nobody.
-- Grain: one pod, numbered from 1 by `owner`; a crowd of pod_match_crowds, numbered below 0; 0 is
-- nobody. `match_kind` and `candidates` (UIDs, chr(31) between them) are null for pods.
-- Reads: pod_match_pods, pod_match_crowds.
SELECT
    owner, cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt, is_plain,
    CAST(NULL AS VARCHAR) AS match_kind,
    CAST(NULL AS VARCHAR) AS candidates
FROM pod_match_pods
UNION ALL
SELECT
    owner, cluster, NULL, NULL, NULL, node, NULL, NULL, FALSE, match_kind, candidates
FROM pod_match_crowds
