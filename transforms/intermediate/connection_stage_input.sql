-- Connections of a pod at their start, to be matched to stages.
-- Grain: connection of a pod whose start was seen.
-- Reads: connection_peers, container_output.
-- Parameters: $cluster.
SELECT
    c.connection AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    c.initiator_uid AS pod_uid,
    t.container,
    make_timestamptz(c.first_us) AS event_at
FROM connection_peers AS c
LEFT JOIN container_output AS t ON c.connection = t.item_id
WHERE c.initiator_uid IS NOT NULL AND c.ignored_as IS NULL AND c.is_reached
