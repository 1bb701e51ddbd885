-- Which pod an item means.
-- Grain: one row per row of match_input.
-- Reads: pod_match_met, pod_match_ladder.
SELECT
    item_id, cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt, match_kind,
    candidate_pod_uids
FROM pod_match_met
WHERE NOT needs_ladder
UNION ALL
SELECT
    item_id, cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt, match_kind,
    candidate_pod_uids
FROM pod_match_ladder
