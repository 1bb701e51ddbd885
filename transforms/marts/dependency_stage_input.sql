-- Look-ups of pods, to be matched to stages: one item per client and second.
-- Grain: distinct client and second of a pod.
-- Reads: match_input, match_output.
SELECT
    m.item_id,
    m.cluster,
    m.pod_uid,
    CAST(NULL AS VARCHAR) AS container,
    i.event_at
FROM match_output AS m
INNER JOIN match_input AS i ON m.item_id = i.item_id
WHERE m.pod_uid IS NOT NULL
