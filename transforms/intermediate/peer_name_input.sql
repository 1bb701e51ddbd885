-- Peers at the beginning of their exchange, to be named for the end that talks to them.
-- Grain: local end, peer, beginning; only peers that some answer named.
-- Reads: peer_sides, peer_ends, peer_addresses, name_bindings.
WITH asked AS (
    SELECT DISTINCT s.local_end, s.peer_number, s.began_us
    FROM peer_sides AS s
    INNER JOIN peer_addresses AS a ON s.peer_number = a.address_number
    WHERE s.local_end IS NOT NULL AND a.address IN (SELECT address FROM name_bindings)
)

SELECT
    {'local_end': q.local_end, 'peer_number': q.peer_number, 'began_us': q.began_us} AS item_id,
    e.cluster,
    e.pod_uid,
    e.node,
    a.address,
    make_timestamptz(q.began_us) AS event_at
FROM asked AS q
INNER JOIN peer_ends AS e ON q.local_end = e.end_number
INNER JOIN peer_addresses AS a ON q.peer_number = a.address_number
WHERE e.cluster IS NOT NULL
