-- Both ends of the connections whose bytes somebody measured: what an owner contacted, and what it
-- served. What was served is no dependency of the server.
-- Grain: distinct peer, port, use and window of five minutes of one owner.
-- Reads: dependency_connections, peer_traffic.
-- Parameters: $date.
WITH measured AS (
    SELECT DISTINCT
        COALESCE('pod ' || pod_uid, 'address ' || local_address) AS owner_key,
        peer_address,
        COALESCE(peer_port, -1) AS peer_port
    FROM peer_traffic
    WHERE date = CAST($date AS DATE) AND is_chosen
),

ends AS (
    SELECT
        owner_key, responder_address AS peer_address, COALESCE(responder_port, -1) AS peer_port,
        transport, first_at, last_at, FALSE AS is_served, resource_id, endpoint, resource_kind,
        container_role, stage, name_kind
    FROM dependency_connections
    UNION ALL
    SELECT
        server_key AS owner_key, initiator_address AS peer_address,
        COALESCE(initiator_port, -1) AS peer_port, transport, first_at, last_at,
        TRUE AS is_served, resource_id, endpoint, resource_kind, container_role, stage, name_kind
    FROM dependency_connections
),

wanted AS (
    SELECT e.*
    FROM ends AS e
    INNER JOIN measured AS m
        ON e.owner_key = m.owner_key
        AND e.peer_address = m.peer_address
        AND e.peer_port = m.peer_port
)

SELECT DISTINCT
    owner_key, peer_address, peer_port, transport, is_served, resource_id, endpoint, resource_kind,
    container_role, stage, name_kind,
    UNNEST(RANGE(
        epoch_us(first_at) // 300000000, epoch_us(last_at) // 300000000 + 1
    )) AS window_number
FROM wanted
