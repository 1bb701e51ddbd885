-- Both ends of each connection at its start, to be matched to pods.
-- Grain: connection, end (0 initiator, 1 responder).
-- Reads: connection_ordinals.
-- Parameters: $cluster.
SELECT
    connection * 2 AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    initiator_address AS address,
    initiator_namespace AS namespace,
    initiator_pod_name AS pod_name,
    initiator_pod_uid AS pod_uid,
    make_timestamptz(first_us) AS event_at
FROM connection_ordinals
UNION ALL
SELECT
    connection * 2 + 1 AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    responder_address AS address,
    responder_namespace AS namespace,
    responder_pod_name AS pod_name,
    responder_pod_uid AS pod_uid,
    make_timestamptz(first_us) AS event_at
FROM connection_ordinals
