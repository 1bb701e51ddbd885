-- Items that state a name or a UID, and whose address does not name one pod that has just these
-- (pod_match.py says why all others are decided).
-- Grain: one item. `owner`: who holds its address, 0 for nobody.
-- Reads: match_input, pod_match_buckets, pod_match_owners.
WITH met AS (
    SELECT
        i.item_id, i.cluster, i.address, i.namespace, i.pod_name, i.pod_uid,
        epoch_us(i.event_at) AS event_us,
        COALESCE(b.owner, 0) AS owner
    FROM match_input AS i
    LEFT JOIN pod_match_buckets AS b
        ON COALESCE(i.cluster, '*') = b.key_cluster
        AND i.address = b.address
        AND epoch_us(i.event_at) // 900000000 = b.bucket
        AND epoch_us(i.event_at) >= b.start_us
        AND epoch_us(i.event_at) < b.end_us
    WHERE i.namespace IS NOT NULL OR i.pod_name IS NOT NULL OR i.pod_uid IS NOT NULL
)

SELECT m.*
FROM met AS m
INNER JOIN pod_match_owners AS p ON m.owner = p.owner
WHERE
    CASE
        WHEN p.is_plain THEN
            COALESCE(m.namespace <> p.namespace, FALSE)
            OR COALESCE(m.pod_name <> p.pod_name, FALSE)
            OR COALESCE(m.pod_uid <> p.pod_uid, FALSE)
        ELSE
            m.pod_uid IS NOT NULL
            OR (m.namespace IS NOT NULL AND m.pod_name IS NOT NULL)
            OR m.owner > 0
    END
