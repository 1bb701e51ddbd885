-- Whose binding each answer is: the pod's that asked, the node's, or the cluster's.
-- Grain: one look-up and address.
-- Reads: name_binding_answers, match_output, pod_intervals (for host-network pods).
-- Parameters: $cluster.
WITH host_network AS (
    SELECT DISTINCT pod_uid FROM pod_intervals WHERE host_network
),

-- A resolver cache of a node asks for all of the node's pods.
judged AS (
    SELECT
        a.*,
        m.match_kind, m.pod_uid, m.node AS matched_node,
        COALESCE(
            a.client_address LIKE '169.254.%' OR a.client_address LIKE '127.%'
            OR a.client_address = '::1' OR REGEXP_MATCHES(a.client_address, '^fe[89ab][0-9a-f]:'),
            FALSE
        ) AS is_link_local,
        m.match_kind = 'node' OR h.pod_uid IS NOT NULL AS is_host_network
    FROM name_binding_answers AS a
    INNER JOIN match_output AS m ON a.lookup_id = m.item_id
    LEFT JOIN host_network AS h ON m.pod_uid = h.pod_uid
),

scoped AS (
    SELECT
        *,
        CASE WHEN is_link_local THEN node WHEN is_host_network THEN matched_node END
            AS asking_node,
        CASE WHEN NOT is_link_local AND NOT is_host_network THEN pod_uid END AS asking_pod
    FROM judged
)

SELECT
    CASE
        WHEN asking_node IS NOT NULL THEN 'node'
        WHEN asking_pod IS NOT NULL THEN 'pod'
        ELSE 'cluster'
    END AS scope,
    COALESCE(asking_node, asking_pod, CAST($cluster AS VARCHAR)) AS scope_id,
    address,
    name,
    epoch_us(event_at) // 86400000000 AS day_number,
    CASE WHEN asking_node IS NULL AND asking_pod IS NOT NULL THEN NULL ELSE client_address END
        AS client,
    query_type,
    source_format,
    canonical_name,
    ttl_seconds,
    -- Place on the pod ladder: 1 is the best.
    LIST_POSITION(
        ['uid', 'name_window', 'address_window', 'node', 'ambiguous', 'conflict', 'none'],
        match_kind
    ) AS match_ordinal,
    epoch_us(event_at) AS event_us,
    epoch_us(event_at) + GREATEST(COALESCE(ttl_seconds, 0), 60) * 1000000 AS end_us
FROM scoped
