-- Which pod an item means, by the pod ladder of design.md 5 and the skew guard of
-- definitions.md 35.
-- Grain: one row per row of match_input.
-- Reads: match_input, pod_match_segments, pod_match_pods.
WITH items AS (
    SELECT
        item_id, namespace, pod_name, pod_uid, address,
        COALESCE(cluster, '*') AS key_cluster,
        epoch_us(event_at) AS event_us,
        epoch_us(event_at) // 3600000000 AS hour_bucket
    FROM match_input
),

evidence AS (
    SELECT
        i.item_id,
        i.namespace AS stated_namespace,
        i.pod_name AS stated_pod_name,
        i.pod_uid AS stated_pod_uid,
        i.namespace IS NOT NULL AND i.pod_name IS NOT NULL AS has_name,
        i.pod_uid IN (SELECT pod_uid FROM pod_match_pods) AS is_known_uid,
        COALESCE(u.wide, []) AS uid_wide,
        COALESCE(u.exact, []) AS uid_exact,
        COALESCE(n.wide, []) AS name_wide,
        COALESCE(n.exact, []) AS name_exact,
        COALESCE(a.wide, []) AS address_wide,
        COALESCE(a.exact, []) AS address_exact,
        COALESCE(a.nodes, []) AS nodes,
        COALESCE(a.host_pods, []) AS host_pods
    FROM items AS i
    LEFT JOIN pod_match_segments AS u
        ON u.key_kind = 'uid'
        AND u.key_cluster = i.key_cluster
        AND u.key_text = i.pod_uid
        AND u.hour_bucket = i.hour_bucket
        AND i.event_us >= u.segment_start_us
        AND i.event_us < u.segment_end_us
    LEFT JOIN pod_match_segments AS n
        ON n.key_kind = 'name'
        AND n.key_cluster = i.key_cluster
        AND n.key_namespace = i.namespace
        AND n.key_text = i.pod_name
        AND n.hour_bucket = i.hour_bucket
        AND i.event_us >= n.segment_start_us
        AND i.event_us < n.segment_end_us
    LEFT JOIN pod_match_segments AS a
        ON a.key_kind = 'address'
        AND a.key_cluster = i.key_cluster
        AND a.key_text = i.address
        AND a.hour_bucket = i.hour_bucket
        AND i.event_us >= a.segment_start_us
        AND i.event_us < a.segment_end_us
),

-- What name and address say together, without the UID.
named AS (
    SELECT
        *,
        LIST_INTERSECT(name_wide, address_wide) AS both_wide,
        CASE
            WHEN NOT has_name THEN
                CASE
                    WHEN LEN(address_wide) = 1 THEN 'address_window'
                    WHEN LEN(address_wide) > 1 THEN 'ambiguous'
                    WHEN LEN(nodes) > 0 OR LEN(host_pods) > 0 THEN 'node'
                    ELSE 'none'
                END
            WHEN LEN(name_wide) = 0 THEN
                CASE WHEN LEN(address_exact) > 0 THEN 'conflict' ELSE 'none' END
            WHEN
                LEN(name_exact) > 0
                AND LEN(address_exact) > 0
                AND NOT LIST_HAS_ANY(name_exact, address_exact)
                THEN 'conflict'
            WHEN LEN(name_wide) = 1 OR LEN(LIST_INTERSECT(name_wide, address_wide)) = 1
                THEN 'name_window'
            ELSE 'ambiguous'
        END AS base_kind
    FROM evidence
),

ladder AS (
    SELECT
        *,
        CASE
            WHEN stated_pod_uid IS NULL THEN base_kind
            WHEN NOT is_known_uid THEN
                CASE
                    WHEN base_kind IN ('name_window', 'address_window', 'ambiguous', 'conflict')
                        THEN 'conflict'
                    ELSE 'none'
                END
            WHEN LEN(uid_wide) = 0 THEN 'conflict'
            WHEN LEN(uid_wide) > 1 THEN 'ambiguous'
            WHEN
                LEN(uid_exact) > 0
                AND LEN(address_exact) > 0
                AND NOT LIST_HAS_ANY(uid_exact, address_exact)
                THEN 'conflict'
            ELSE 'uid'
        END AS kind
    FROM named
),

chosen AS (
    SELECT
        *,
        CASE
            WHEN kind = 'uid' THEN uid_wide[1]
            WHEN kind = 'name_window' AND LEN(name_wide) = 1 THEN name_wide[1]
            WHEN kind = 'name_window' THEN both_wide[1]
            WHEN kind = 'address_window' THEN address_wide[1]
        END AS member,
        CASE
            WHEN kind = 'node' THEN host_pods
            WHEN kind = 'ambiguous' AND LEN(uid_wide) > 1 THEN uid_wide
            WHEN kind = 'ambiguous' AND has_name THEN name_wide
            WHEN kind = 'ambiguous' THEN address_wide
            WHEN kind = 'conflict'
                THEN LIST_CONCAT(
                    uid_wide,
                    CASE WHEN LEN(name_exact) > 0 THEN name_exact ELSE name_wide END,
                    CASE WHEN LEN(address_exact) > 0 THEN address_exact ELSE address_wide END
                )
            ELSE []
        END AS candidates
    FROM ladder
),

-- A part of the name that the pod found by UID or address does not have contradicts it.
judged AS (
    SELECT
        c.item_id,
        p.cluster,
        p.pod_uid,
        p.namespace,
        p.pod_name,
        p.node,
        p.run_uuid,
        p.attempt,
        c.kind,
        c.nodes,
        c.stated_pod_uid,
        CASE
            WHEN p.pod_uid IS NULL THEN FALSE
            WHEN c.kind = 'address_window' AND LEN(c.address_exact) = 0 THEN FALSE
            ELSE COALESCE(c.stated_namespace <> p.namespace, FALSE)
                OR COALESCE(c.stated_pod_name <> p.pod_name, FALSE)
        END AS is_contradicted,
        LIST_TRANSFORM(
            c.candidates, LAMBDA m: SUBSTRING(m, STRPOS(m, '/') + 1)
        ) AS candidate_uids
    FROM chosen AS c
    LEFT JOIN pod_match_pods AS p ON c.member = p.member
)

SELECT
    item_id,
    CASE
        WHEN is_contradicted THEN NULL
        WHEN kind = 'node' AND LEN(nodes) = 1
            THEN SUBSTRING(nodes[1], 1, STRPOS(nodes[1], '/') - 1)
        ELSE cluster
    END AS cluster,
    CASE WHEN NOT is_contradicted THEN pod_uid END AS pod_uid,
    CASE WHEN NOT is_contradicted THEN namespace END AS namespace,
    CASE WHEN NOT is_contradicted THEN pod_name END AS pod_name,
    CASE
        WHEN is_contradicted THEN NULL
        WHEN kind = 'node' AND LEN(nodes) = 1
            THEN SUBSTRING(nodes[1], STRPOS(nodes[1], '/') + 1)
        ELSE node
    END AS node,
    CASE WHEN NOT is_contradicted THEN run_uuid END AS run_uuid,
    CASE WHEN NOT is_contradicted THEN attempt END AS attempt,
    CASE WHEN is_contradicted THEN 'conflict' ELSE kind END AS match_kind,
    CASE
        WHEN is_contradicted THEN [pod_uid]
        WHEN kind IN ('conflict', 'none') AND stated_pod_uid IS NOT NULL
            THEN LIST_SORT(LIST_DISTINCT(LIST_APPEND(candidate_uids, stated_pod_uid)))
        WHEN LEN(candidate_uids) > 0 THEN LIST_SORT(LIST_DISTINCT(candidate_uids))
    END AS candidate_pod_uids
FROM judged
