-- Connections of a pod at their start, to be matched to containers; `is_begin` is false of those that
-- had begun before their first event.
-- Grain: connection of a pod.
-- Reads: connection_peers.
SELECT
    connection AS item_id,
    initiator_uid AS pod_uid,
    make_timestamptz(first_us) AS event_at,
    COALESCE(is_start_seen, TRUE) AS is_begin
FROM connection_peers
WHERE initiator_uid IS NOT NULL AND ignored_as IS NULL
