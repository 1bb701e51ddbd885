-- Which pod an item means that states a name or UID, by the pod ladder of design.md 5 and the skew
-- guard of definitions.md 35.
-- Grain: one item of pod_match_rest. `owner`: the pod's number, 0 if none is named; `node_cluster`
-- and `node` where one node holds the address.
-- Reads: pod_match_rest, pod_match_evidence, pod_match_pods.
WITH counted AS (
    SELECT
        item_number,
        COUNT(*) FILTER (WHERE by_uid) AS uid_wide,
        COUNT(*) FILTER (WHERE uid_exact) AS uid_exact,
        COUNT(*) FILTER (WHERE by_name) AS name_wide,
        COUNT(*) FILTER (WHERE name_exact) AS name_exact,
        COUNT(*) FILTER (WHERE holder_kind = 'pod' AND by_address) AS address_wide,
        COUNT(*) FILTER (WHERE holder_kind = 'pod' AND address_exact) AS address_exact,
        COUNT(*) FILTER (WHERE by_name AND by_address) AS both_wide,
        COUNT(*) FILTER (WHERE name_exact AND address_exact) AS both_exact,
        COUNT(*) FILTER (WHERE uid_exact AND address_exact) AS uid_address_exact,
        COUNT(*) FILTER (WHERE holder_kind = 'node') AS nodes,
        COUNT(*) FILTER (WHERE holder_kind = 'host_pod') AS host_pods,
        -- Each of these is read only where there is one.
        MIN(pod_number) FILTER (WHERE by_uid) AS uid_pod,
        MIN(pod_number) FILTER (WHERE by_name) AS name_pod,
        MIN(pod_number) FILTER (WHERE by_name AND by_address) AS both_pod,
        MIN(pod_number) FILTER (WHERE holder_kind = 'pod' AND by_address) AS address_pod
    FROM pod_match_evidence
    GROUP BY item_number
),

evidence AS (
    SELECT
        i.item_number,
        i.item_id,
        i.namespace AS stated_namespace,
        i.pod_name AS stated_pod_name,
        i.pod_uid AS stated_pod_uid,
        i.namespace IS NOT NULL AND i.pod_name IS NOT NULL AS has_name,
        i.pod_uid IN (SELECT pod_uid FROM pod_match_pods) AS is_known_uid,
        COALESCE(c.uid_wide, 0) AS uid_wide,
        COALESCE(c.uid_exact, 0) AS uid_exact,
        COALESCE(c.name_wide, 0) AS name_wide,
        COALESCE(c.name_exact, 0) AS name_exact,
        COALESCE(c.address_wide, 0) AS address_wide,
        COALESCE(c.address_exact, 0) AS address_exact,
        COALESCE(c.both_wide, 0) AS both_wide,
        COALESCE(c.both_exact, 0) AS both_exact,
        COALESCE(c.uid_address_exact, 0) AS uid_address_exact,
        COALESCE(c.nodes, 0) AS nodes,
        COALESCE(c.host_pods, 0) AS host_pods,
        c.uid_pod, c.name_pod, c.both_pod, c.address_pod
    FROM pod_match_rest AS i
    LEFT JOIN counted AS c ON i.item_number = c.item_number
),

-- What name and address say together, without the UID.
named AS (
    SELECT
        *,
        CASE
            WHEN NOT has_name THEN
                CASE
                    WHEN address_wide = 1 THEN 'address_window'
                    WHEN address_wide > 1 THEN 'ambiguous'
                    WHEN nodes > 0 OR host_pods > 0 THEN 'node'
                    ELSE 'none'
                END
            WHEN name_wide = 0 THEN
                CASE WHEN address_exact > 0 THEN 'conflict' ELSE 'none' END
            WHEN name_exact > 0 AND address_exact > 0 AND both_exact = 0 THEN 'conflict'
            WHEN name_wide = 1 OR both_wide = 1 THEN 'name_window'
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
            WHEN uid_wide = 0 THEN 'conflict'
            WHEN uid_wide > 1 THEN 'ambiguous'
            WHEN uid_exact > 0 AND address_exact > 0 AND uid_address_exact = 0 THEN 'conflict'
            ELSE 'uid'
        END AS kind
    FROM named
),

-- A part of the name that the pod found by UID or address does not have contradicts it.
judged AS (
    SELECT
        l.item_number, l.item_id, l.stated_pod_uid, l.has_name, l.kind,
        l.uid_wide, l.name_exact, l.address_exact, l.nodes,
        p.owner AS pod, p.pod_uid,
        CASE
            WHEN p.pod_uid IS NULL THEN FALSE
            WHEN l.kind = 'address_window' AND l.address_exact = 0 THEN FALSE
            ELSE COALESCE(l.stated_namespace <> p.namespace, FALSE)
                OR COALESCE(l.stated_pod_name <> p.pod_name, FALSE)
        END AS is_contradicted
    FROM ladder AS l
    LEFT JOIN pod_match_pods AS p
        ON p.owner = CASE
            WHEN l.kind = 'uid' THEN l.uid_pod
            WHEN l.kind = 'name_window' AND l.name_wide = 1 THEN l.name_pod
            WHEN l.kind = 'name_window' THEN l.both_pod
            WHEN l.kind = 'address_window' THEN l.address_pod
        END
),

candidates AS (
    SELECT
        j.item_number,
        LIST_SORT(LIST(DISTINCT p.pod_uid)) AS pod_uids
    FROM judged AS j
    INNER JOIN pod_match_evidence AS e ON j.item_number = e.item_number
    INNER JOIN pod_match_pods AS p ON e.pod_number = p.owner
    WHERE
        CASE
            WHEN j.kind = 'node' THEN e.holder_kind = 'host_pod'
            WHEN e.holder_kind <> 'pod' THEN FALSE
            WHEN j.kind = 'ambiguous' AND j.uid_wide > 1 THEN e.by_uid
            WHEN j.kind = 'ambiguous' AND j.has_name THEN e.by_name
            WHEN j.kind = 'ambiguous' THEN e.by_address
            WHEN j.kind = 'conflict' THEN
                e.by_uid
                OR CASE WHEN j.name_exact > 0 THEN e.name_exact ELSE e.by_name END
                OR CASE WHEN j.address_exact > 0 THEN e.address_exact ELSE e.by_address END
            ELSE FALSE
        END
    GROUP BY j.item_number
),

places AS (
    SELECT j.item_number, e.node_cluster, e.node
    FROM judged AS j
    INNER JOIN pod_match_evidence AS e ON j.item_number = e.item_number
    WHERE j.kind = 'node' AND j.nodes = 1 AND e.holder_kind = 'node'
)

SELECT
    j.item_id,
    CASE WHEN j.is_contradicted THEN 0 ELSE COALESCE(j.pod, 0) END AS owner,
    n.node_cluster,
    n.node,
    CASE WHEN j.is_contradicted THEN 'conflict' ELSE j.kind END AS match_kind,
    CASE
        WHEN j.is_contradicted THEN [j.pod_uid]
        WHEN j.kind IN ('conflict', 'none') AND j.stated_pod_uid IS NOT NULL
            THEN LIST_SORT(LIST_DISTINCT(LIST_APPEND(COALESCE(c.pod_uids, []), j.stated_pod_uid)))
        ELSE c.pod_uids
    END AS candidate_pod_uids
FROM judged AS j
LEFT JOIN candidates AS c ON j.item_number = c.item_number
LEFT JOIN places AS n ON j.item_number = n.item_number
