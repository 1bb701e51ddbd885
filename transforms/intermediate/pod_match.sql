-- Which pod an item means.
-- Grain: one row per row of match_input.
-- Reads: pod_match_met, pod_match_outcomes, pod_match_rest, pod_match_ladder.
SELECT
    m.item_id, o.cluster, o.pod_uid, o.namespace, o.pod_name, o.node, o.run_uuid, o.attempt,
    CASE
        WHEN m.outcome <= 0 THEN o.match_kind
        WHEN m.pod_uid IS NOT NULL THEN 'uid'
        WHEN m.namespace IS NOT NULL AND m.pod_name IS NOT NULL THEN 'name_window'
        ELSE 'address_window'
    END AS match_kind,
    o.candidate_pod_uids
FROM pod_match_met AS m
INNER JOIN pod_match_outcomes AS o ON m.outcome = o.outcome
WHERE NOT EXISTS (SELECT 1 FROM pod_match_rest AS r WHERE m.item_id = r.item_id)
UNION ALL
SELECT
    item_id, cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt, match_kind,
    candidate_pod_uids
FROM pod_match_ladder
