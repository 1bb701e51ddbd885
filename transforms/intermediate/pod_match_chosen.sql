-- Items that mean one of several pods of an address, by its name, as pod_match_ladder has them.
-- Grain: one item of pod_match_apart with a pod.
-- Reads: pod_match_apart, pod_match_pods.
SELECT
    a.item_id, p.cluster, p.pod_uid, p.namespace, p.pod_name, p.node, p.run_uuid, p.attempt,
    CASE WHEN a.pod_uid IS NOT NULL THEN 'uid' ELSE 'name_window' END AS match_kind,
    CAST(NULL AS VARCHAR[]) AS candidate_pod_uids
FROM pod_match_apart AS a
INNER JOIN pod_match_pods AS p ON a.pod_number = p.pod_number
