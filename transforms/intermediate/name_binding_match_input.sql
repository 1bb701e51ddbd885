-- The clients of look-ups, to be matched to pods (see pod_match.py).
-- Grain: one look-up.
-- Reads: name_binding_answers.
-- Parameters: $cluster.
SELECT DISTINCT
    lookup_id AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    client_address AS address,
    client_namespace AS namespace,
    client_pod_name AS pod_name,
    client_pod_uid AS pod_uid,
    event_at
FROM name_binding_answers
