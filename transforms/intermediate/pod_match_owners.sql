-- Who a record can mean: what is newest known of each pod, several of them, a node, and nobody.
-- Grain: one pod, numbered from 1 by `owner`; a crowd of pod_match_crowds, numbered below 0; 0 is
-- nobody. `is_plain`: every interval of the pod has this name, and no other cluster has a pod of
-- this UID. `match_kind` and `candidates` (UIDs, chr(31) between them) are null for pods.
-- Reads: pod_match_windows, pod_match_several, pod_match_crowds.
SELECT
    w.number AS owner,
    w.cluster,
    w.pod_uid,
    w.namespace,
    w.pod_name,
    w.node,
    w.run_uuid,
    w.attempt,
    COALESCE(s.is_plain, w.namespace IS NOT NULL AND w.pod_name IS NOT NULL) AS is_plain,
    CAST(NULL AS VARCHAR) AS match_kind,
    CAST(NULL AS VARCHAR) AS candidates
FROM pod_match_windows AS w
LEFT JOIN pod_match_several AS s ON w.number = s.number
WHERE s.owner IS NULL OR s.owner = w.number
UNION ALL
SELECT
    owner, cluster, NULL, NULL, NULL, node, NULL, NULL, FALSE, match_kind, candidates
FROM pod_match_crowds
