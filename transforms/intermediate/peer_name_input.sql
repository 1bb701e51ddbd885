-- Peers at the beginning of their exchange, to be named for the pod that talks to them.
-- Grain: pod, peer address, beginning.
-- Reads: peer_sides.
SELECT DISTINCT
    {
        'cluster': cluster, 'pod_uid': pod_uid, 'node': node, 'address': peer_address,
        'began_us': began_us
    } AS item_id,
    cluster,
    pod_uid,
    node,
    peer_address AS address,
    make_timestamptz(began_us) AS event_at
FROM peer_sides
WHERE cluster IS NOT NULL
