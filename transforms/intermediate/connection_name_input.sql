-- Responders at the start of their connection, to be named by look-ups.
-- Grain: connection whose start is known.
-- Reads: connection_peers.
-- Parameters: $cluster.
SELECT
    connection AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    initiator_uid AS pod_uid,
    COALESCE(initiator_known_node, initiator_node) AS node,
    responder_address AS address,
    make_timestamptz(first_us) AS event_at
FROM connection_peers
WHERE is_reached AND ignored_as IS NULL
