-- How far a peer is, and by what, for ends, addresses and ways that occur together.
-- Grain: both ends, peer address, way, peer's service, what the records can tell.
-- Reads: peer_sides, peer_ends, peer_addresses, node_places, cluster_accounts.
WITH seen AS (
    SELECT DISTINCT
        local_end, is_local_interface, peer_end, peer_number, way, peer_service, tells_service
    FROM peer_sides
)

SELECT
    s.*,
    CASE
        WHEN a.node = b.node AND a.cluster = b.cluster THEN 'same_node'
        WHEN a.region <> b.region THEN 'cross_region'
        WHEN
            a.region = b.region AND a.zone = b.zone
            AND (a.cluster = b.cluster OR x.account_id = y.account_id)
            THEN 'same_zone'
        WHEN
            a.region = b.region AND a.zone <> b.zone
            AND (a.cluster = b.cluster OR x.account_id = y.account_id)
            THEN 'cross_zone'
        WHEN a.region = b.region THEN 'same_region'
        WHEN s.way = '5' THEN 'cross_region'
        WHEN s.way IN ('1', '4') AND p.is_private THEN 'same_region'
        WHEN s.way = '7' THEN 'same_region'
        WHEN s.way IN ('2', '8') AND s.tells_service AND s.peer_service IS NULL AND p.is_public
            THEN 'internet'
        ELSE 'unknown'
    END AS distance,
    CASE
        WHEN s.way = '1' AND p.is_private THEN 'none'
        WHEN s.way = '8' THEN 'none'
        WHEN s.way IN ('4', '5') THEN 'peering'
        WHEN s.way = '7' THEN 'gateway_endpoint'
        ELSE 'unknown'
    END AS gateway
FROM seen AS s
INNER JOIN peer_addresses AS p ON s.peer_number = p.address_number
LEFT JOIN peer_ends AS l ON s.local_end = l.end_number
LEFT JOIN peer_ends AS r ON s.peer_end = r.end_number
LEFT JOIN node_places AS a
    ON l.cluster = a.cluster AND l.node = a.node
    AND NOT (l.match_kind = 'node' AND s.is_local_interface)
LEFT JOIN node_places AS b ON r.cluster = b.cluster AND r.node = b.node
LEFT JOIN cluster_accounts AS x ON a.cluster = x.cluster
LEFT JOIN cluster_accounts AS y ON b.cluster = y.cluster
