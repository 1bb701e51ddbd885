-- Bytes between a local address and a peer, with the use that they belong to: that of the
-- connections in the same window, else of the day. Where these went to several names, the bytes are
-- the address's; where several containers had them, they are no container's.
-- Grain: one chosen row of peer_traffic that is no traffic served to a client.
-- Reads: peer_traffic, dependency_sides.
-- Parameters: $date.
WITH chosen AS (
    SELECT
        -- Of samples the best number is what they stand for; certain is what was observed.
        * REPLACE (COALESCE(estimated_bytes, bytes) AS bytes),
        COALESCE('pod ' || pod_uid, 'address ' || local_address) AS owner_key,
        COALESCE(peer_port, -1) AS port_key,
        epoch_us(window_start_at) // 300000000 AS window_number,
        CASE WHEN peer_address LIKE '%:%' THEN '[' || peer_address || ']' ELSE peer_address END
            || COALESCE(':' || CAST(peer_port AS VARCHAR), '')
            || CASE WHEN transport = 'UDP' AND peer_port IS NOT NULL THEN '/udp' ELSE '' END
            AS place
    FROM peer_traffic
    WHERE
        date = CAST($date AS DATE)
        AND is_chosen
        AND (bytes > 0 OR max_bytes IS NULL OR max_bytes > 0)
),

in_window AS (
    SELECT c.peer_traffic_id, s.*
    FROM chosen AS c
    INNER JOIN dependency_sides AS s
        ON c.owner_key = s.owner_key
        AND c.peer_address = s.peer_address
        AND c.port_key = s.peer_port
        AND c.window_number = s.window_number
        AND COALESCE(c.transport, s.transport) = s.transport
),

in_day AS (
    SELECT c.peer_traffic_id, s.*
    FROM chosen AS c
    INNER JOIN dependency_sides AS s
        ON c.owner_key = s.owner_key
        AND c.peer_address = s.peer_address
        AND c.port_key = s.peer_port
        AND COALESCE(c.transport, s.transport) = s.transport
    WHERE c.peer_traffic_id NOT IN (SELECT peer_traffic_id FROM in_window)
),

met AS (
    SELECT * FROM in_window
    UNION ALL
    SELECT * FROM in_day
),

uses AS (
    SELECT
        peer_traffic_id,
        BOOL_AND(is_served) AS is_served,
        COUNT(DISTINCT resource_id) FILTER (WHERE NOT is_served) AS resource_count,
        MIN(resource_id) FILTER (WHERE NOT is_served) AS resource_id,
        MIN(endpoint) FILTER (WHERE NOT is_served) AS endpoint,
        MIN(resource_kind) FILTER (WHERE NOT is_served) AS resource_kind,
        COUNT(DISTINCT COALESCE(container_role, '') || '/' || stage)
            FILTER (WHERE NOT is_served) AS user_count,
        MIN(container_role) FILTER (WHERE NOT is_served) AS container_role,
        MIN(stage) FILTER (WHERE NOT is_served) AS stage,
        MAX(LIST_POSITION(
            [
                'http_host', 'tls_name', 'dns_pod', 'dns_node', 'dns_cluster', 'flow_names',
                'dns_time', 'kube_service', 'well_known_address', 'address_range', 'ambiguous',
                'none'
            ],
            name_kind
        )) FILTER (WHERE NOT is_served) AS weakest_name
    FROM met
    GROUP BY peer_traffic_id
),

named AS (
    SELECT
        c.*,
        u.resource_count,
        u.resource_id AS used_resource_id,
        u.endpoint AS used_endpoint,
        u.resource_kind AS used_resource_kind,
        CASE WHEN u.user_count = 1 THEN u.container_role END AS container_role,
        CASE WHEN u.user_count = 1 THEN u.stage ELSE 'unknown' END AS stage,
        u.weakest_name,
        u.peer_traffic_id IS NULL
        AND c.peer_name IS NOT NULL
        AND c.name_kind IN (
            'http_host', 'tls_name', 'dns_pod', 'dns_node', 'dns_cluster', 'flow_names', 'dns_time'
        ) AS is_named,
        COALESCE(u.is_served, FALSE) AS is_served
    FROM chosen AS c
    LEFT JOIN uses AS u ON c.peer_traffic_id = u.peer_traffic_id
)

SELECT
    peer_traffic_id,
    owner_key,
    cluster,
    run_uuid,
    attempt,
    pod_uid,
    container_role,
    stage,
    CASE
        WHEN resource_count = 1 THEN used_resource_id
        WHEN is_named
            THEN 'dns://' || peer_name || COALESCE(':' || CAST(peer_port AS VARCHAR), '')
                || CASE WHEN transport = 'UDP' AND peer_port IS NOT NULL THEN '/udp' ELSE '' END
        ELSE 'ip://' || place
    END AS resource_id,
    CASE
        WHEN resource_count = 1 THEN used_endpoint
        WHEN is_named THEN peer_name
        ELSE peer_address
    END AS endpoint,
    CASE
        WHEN resource_count = 1 THEN used_resource_kind
        WHEN is_named THEN 'host'
        ELSE 'address'
    END AS resource_kind,
    -- Look-ups have rows of their own (definitions.md 17): their bytes belong there.
    CASE WHEN peer_port = 53 THEN 'resolve' ELSE 'connect' END AS operation,
    measured_by,
    window_start_at AS first_at,
    window_start_at + INTERVAL '5' MINUTE AS last_at,
    direction,
    bytes,
    min_bytes,
    max_bytes,
    byte_layer,
    match_kind,
    CASE
        WHEN resource_count = 1
            THEN [
                'http_host', 'tls_name', 'dns_pod', 'dns_node', 'dns_cluster', 'flow_names',
                'dns_time', 'kube_service', 'well_known_address', 'address_range', 'ambiguous',
                'none'
            ][weakest_name]
        WHEN resource_count > 1 THEN 'ambiguous'
        ELSE name_kind
    END AS name_kind
FROM named
-- Without a connection or a name nobody knows who began; a client's port says that the peer did.
WHERE NOT is_served AND (resource_count > 0 OR is_named OR COALESCE(peer_port, 0) < 32768)
