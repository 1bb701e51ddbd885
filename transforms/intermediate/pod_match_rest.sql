-- Items that need the whole ladder. What has a name and nothing else is left out where nobody of
-- that name lives: it means nobody.
-- Grain: one item, numbered. `is_held`: its address has a holder.
-- Reads: pod_match_unmet, pod_match_names.
SELECT
    ROW_NUMBER() OVER () AS item_number,
    u.item_id, u.cluster, u.address, u.namespace, u.pod_name, u.pod_uid, u.event_us,
    u.owner <> 0 AS is_held
FROM pod_match_unmet AS u
LEFT JOIN pod_match_names AS n
    ON u.namespace = n.namespace
    AND u.pod_name = n.pod_name
    AND u.event_us >= n.from_us
    AND u.event_us < n.until_us
WHERE u.owner <> 0 OR u.pod_uid IS NOT NULL OR n.pod_name IS NOT NULL
