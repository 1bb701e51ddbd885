-- Events that an archive left without a UID, to be matched to pods by name (see pod_match.py).
-- Grain: one series.
-- Reads: image_pull_states.
-- Parameters: $cluster.
SELECT
    series_id AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    CAST(NULL AS VARCHAR) AS address,
    namespace,
    pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    MIN(first_at) AS event_at
FROM image_pull_states
WHERE pod_uid IS NULL
GROUP BY series_id, namespace, pod_name
