-- Items whose address alone does not say which pod they mean.
-- Grain: one such row of match_input. `pod_number`: the pod, where several share the address of
-- which the stated name chooses one; null where the whole ladder must be asked (pod_match.py says
-- why all others are decided).
-- Reads: match_input, pod_match_buckets, pod_match_pods, pod_match_sharers.
WITH met AS (
    SELECT
        i.item_id, i.cluster, i.address, i.namespace, i.pod_name, i.pod_uid,
        epoch_us(i.event_at) AS event_us,
        b.outcome,
        p.is_plain
        AND COALESCE(i.namespace = p.namespace, TRUE)
        AND COALESCE(i.pod_name = p.pod_name, TRUE)
        AND COALESCE(i.pod_uid = p.pod_uid, TRUE) AS is_met
    FROM match_input AS i
    LEFT JOIN pod_match_buckets AS b
        ON COALESCE(i.cluster, '*') = b.key_cluster
        AND i.address = b.address
        AND epoch_us(i.event_at) // 1800000000 = b.bucket
        AND epoch_us(i.event_at) >= b.start_us
        AND epoch_us(i.event_at) < b.end_us
    LEFT JOIN pod_match_pods AS p ON b.outcome = p.pod_number
    WHERE i.namespace IS NOT NULL OR i.pod_name IS NOT NULL OR i.pod_uid IS NOT NULL
)

SELECT
    m.item_id, m.cluster, m.address, m.namespace, m.pod_name, m.pod_uid, m.event_us,
    s.pod_number
FROM met AS m
LEFT JOIN pod_match_sharers AS s
    ON m.outcome = s.outcome
    AND m.namespace = s.namespace
    AND m.pod_name = s.pod_name
    AND m.event_us >= s.start_us
    AND m.event_us < s.end_us
    AND COALESCE(m.pod_uid = s.pod_uid, TRUE)
WHERE
    NOT COALESCE(m.is_met, FALSE)
    AND (
        m.pod_uid IS NOT NULL
        OR (m.namespace IS NOT NULL AND m.pod_name IS NOT NULL)
        OR COALESCE(m.outcome > 0, FALSE)
    )
