-- Which pod an item means.
-- Grain: one row per row of match_input.
-- Reads: match_input, pod_match_buckets, pod_match_pods, pod_match_crowds, pod_match_ladder.
SELECT
    i.item_id,
    COALESCE(p.cluster, c.cluster) AS cluster,
    p.pod_uid,
    p.namespace,
    p.pod_name,
    COALESCE(p.node, c.node) AS node,
    p.run_uuid,
    p.attempt,
    CASE
        WHEN b.outcome IS NULL THEN 'none'
        WHEN b.outcome < 0 THEN c.match_kind
        WHEN i.pod_uid IS NOT NULL THEN 'uid'
        WHEN i.namespace IS NOT NULL AND i.pod_name IS NOT NULL THEN 'name_window'
        ELSE 'address_window'
    END AS match_kind,
    c.candidate_pod_uids
FROM match_input AS i
-- Only what states a name or UID is asked for.
ANTI JOIN pod_match_ladder AS a
    ON CASE
        WHEN i.namespace IS NOT NULL OR i.pod_name IS NOT NULL OR i.pod_uid IS NOT NULL
            THEN i.item_id
    END = a.item_id
LEFT JOIN pod_match_buckets AS b
    ON COALESCE(i.cluster, '*') = b.key_cluster
    AND i.address = b.address
    AND epoch_us(i.event_at) // 1800000000 = b.bucket
    AND epoch_us(i.event_at) >= b.start_us
    AND epoch_us(i.event_at) < b.end_us
LEFT JOIN pod_match_pods AS p ON b.outcome = p.pod_number
LEFT JOIN pod_match_crowds AS c ON b.outcome = c.outcome
UNION ALL
SELECT
    item_id, cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt, match_kind,
    candidate_pod_uids
FROM pod_match_ladder
