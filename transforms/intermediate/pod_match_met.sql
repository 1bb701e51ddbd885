-- What the address alone says of each item, and whether more must be asked.
-- Grain: one row per row of match_input; columns of the input are `stated_*`. `needs_ladder`: the
-- item states a name or a UID, and its address does not name one pod that has just these
-- (pod_match.py says why all others are decided).
-- Reads: match_input, pod_match_buckets, pod_match_pods, pod_match_crowds.
SELECT
    i.item_id,
    i.cluster AS stated_cluster,
    i.address AS stated_address,
    i.namespace AS stated_namespace,
    i.pod_name AS stated_pod_name,
    i.pod_uid AS stated_pod_uid,
    epoch_us(i.event_at) AS event_us,
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
    c.candidate_pod_uids,
    CASE
        WHEN i.pod_uid IS NULL AND i.namespace IS NULL AND i.pod_name IS NULL THEN FALSE
        WHEN p.is_plain THEN
            COALESCE(i.namespace <> p.namespace, FALSE)
            OR COALESCE(i.pod_name <> p.pod_name, FALSE)
            OR COALESCE(i.pod_uid <> p.pod_uid, FALSE)
        ELSE
            i.pod_uid IS NOT NULL
            OR (i.namespace IS NOT NULL AND i.pod_name IS NOT NULL)
            OR COALESCE(b.outcome > 0, FALSE)
    END AS needs_ladder
FROM match_input AS i
LEFT JOIN pod_match_buckets AS b
    ON COALESCE(i.cluster, '*') = b.key_cluster
    AND i.address = b.address
    AND epoch_us(i.event_at) // 1800000000 = b.bucket
    AND epoch_us(i.event_at) >= b.start_us
    AND epoch_us(i.event_at) < b.end_us
LEFT JOIN pod_match_pods AS p ON b.outcome = p.pod_number
LEFT JOIN pod_match_crowds AS c ON b.outcome = c.outcome
