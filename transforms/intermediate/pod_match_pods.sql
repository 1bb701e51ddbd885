-- What is newest known of each pod.
-- Grain: one pod, by its number `owner` from 1. `is_plain`: every interval of the pod has this name,
-- and no other cluster has a pod of this UID.
-- Reads: pod_match_windows, pod_match_several.
SELECT
    w.number AS owner,
    w.cluster,
    w.pod_uid,
    w.namespace,
    w.pod_name,
    w.node,
    w.run_uuid,
    w.attempt,
    COALESCE(s.is_plain, w.namespace IS NOT NULL AND w.pod_name IS NOT NULL) AS is_plain
FROM pod_match_windows AS w
LEFT JOIN pod_match_several AS s ON w.number = s.number
WHERE s.owner IS NULL OR s.owner = w.number
