-- Items that need the whole ladder: they state a name or a UID, and their address does not name one
-- pod that has just these (pod_match.py says why those are decided).
-- Grain: one item, numbered.
-- Reads: pod_match_met, pod_match_outcomes.
SELECT
    ROW_NUMBER() OVER () AS item_number,
    m.item_id, m.cluster, m.address, m.namespace, m.pod_name, m.pod_uid, m.event_us
FROM pod_match_met AS m
INNER JOIN pod_match_outcomes AS o ON m.outcome = o.outcome
WHERE
    (m.namespace IS NOT NULL OR m.pod_name IS NOT NULL OR m.pod_uid IS NOT NULL)
    AND (
        m.pod_uid IS NOT NULL
        OR (m.namespace IS NOT NULL AND m.pod_name IS NOT NULL)
        OR o.outcome > 0
    )
    AND NOT (
        o.is_plain
        AND COALESCE(m.namespace = o.namespace, m.namespace IS NULL)
        AND COALESCE(m.pod_name = o.pod_name, m.pod_name IS NULL)
        AND COALESCE(m.pod_uid = o.pod_uid, m.pod_uid IS NULL)
    )
