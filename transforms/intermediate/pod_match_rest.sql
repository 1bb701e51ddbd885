-- Items that need the whole ladder.
-- Grain: one item, numbered.
-- Reads: pod_match_apart.
SELECT
    ROW_NUMBER() OVER () AS item_number,
    item_id, cluster, address, namespace, pod_name, pod_uid, event_us
FROM pod_match_apart
WHERE pod_number IS NULL
