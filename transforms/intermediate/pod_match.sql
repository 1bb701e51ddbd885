-- Which pod an item means.
-- Grain: one row per row of match_input.
-- Reads: match_input, pod_match_buckets, pod_match_owners, pod_match_ladder.
WITH met AS (
    SELECT
        i.item_id,
        COALESCE(b.owner, 0) AS owner,
        CASE
            WHEN i.pod_uid IS NOT NULL THEN 'uid'
            WHEN i.namespace IS NOT NULL AND i.pod_name IS NOT NULL THEN 'name_window'
            ELSE 'address_window'
        END AS match_kind
    FROM match_input AS i
    -- Only what states a name or UID is asked for.
    ANTI JOIN pod_match_ladder AS l
        ON CASE
            WHEN i.namespace IS NOT NULL OR i.pod_name IS NOT NULL OR i.pod_uid IS NOT NULL
                THEN i.item_id
        END = l.item_id
    LEFT JOIN pod_match_buckets AS b
        ON COALESCE(i.cluster, '*') = b.key_cluster
        AND i.address = b.address
        AND epoch_us(i.event_at) // 900000000 = b.bucket
        AND epoch_us(i.event_at) >= b.start_us
        AND epoch_us(i.event_at) < b.end_us
)

SELECT
    m.item_id, p.cluster, p.pod_uid, p.namespace, p.pod_name, p.node, p.run_uuid, p.attempt,
    COALESCE(p.match_kind, m.match_kind) AS match_kind,
    STRING_SPLIT(p.candidates, CHR(31)) AS candidate_pod_uids
FROM met AS m
INNER JOIN pod_match_owners AS p ON m.owner = p.owner
UNION ALL
SELECT
    l.item_id, COALESCE(p.cluster, l.node_cluster) AS cluster, p.pod_uid, p.namespace, p.pod_name,
    COALESCE(p.node, l.node) AS node, p.run_uuid, p.attempt, l.match_kind, l.candidate_pod_uids
FROM pod_match_ladder AS l
INNER JOIN pod_match_owners AS p ON l.owner = p.owner
