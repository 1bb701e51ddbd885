-- Connections of a pod at their start, to be matched to containers.
-- Grain: connection of a pod.
-- Reads: connection_peers.
SELECT connection AS item_id, initiator_uid AS pod_uid, make_timestamptz(first_us) AS event_at
FROM connection_peers
WHERE initiator_uid IS NOT NULL AND ignored_as IS NULL
