-- Records as their local ends see them, with the peer's name.
-- Grain: one record seen from one end.
-- Reads: peer_sides, name_output, well_known_addresses.
SELECT
    s.*,
    CASE
        WHEN n.name_kind IS NOT NULL THEN n.name
        ELSE COALESCE(w.name, s.peer_service)
    END AS peer_name,
    CASE
        WHEN n.name_kind IS NOT NULL THEN n.name_kind
        WHEN w.name IS NOT NULL THEN 'well_known_address'
        WHEN s.peer_service IS NOT NULL THEN 'address_range'
        ELSE 'none'
    END AS name_kind
FROM peer_sides AS s
LEFT JOIN name_output AS n
    ON s.cluster = n.item_id.cluster
    AND s.pod_uid IS NOT DISTINCT FROM n.item_id.pod_uid
    AND s.node IS NOT DISTINCT FROM n.item_id.node
    AND s.peer_address = n.item_id.address
    AND s.began_us = n.item_id.began_us
LEFT JOIN well_known_addresses AS w ON s.peer_address = w.address
