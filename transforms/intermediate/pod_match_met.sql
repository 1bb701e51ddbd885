-- What the address alone says of each item.
-- Grain: one row per row of match_input; `outcome` is a row of pod_match_outcomes.
-- Reads: match_input, pod_match_buckets.
SELECT
    i.item_id,
    i.cluster,
    i.address,
    i.namespace,
    i.pod_name,
    i.pod_uid,
    epoch_us(i.event_at) AS event_us,
    COALESCE(b.outcome, 0) AS outcome
FROM match_input AS i
LEFT JOIN pod_match_buckets AS b
    ON COALESCE(i.cluster, '*') = b.key_cluster
    AND i.address = b.address
    AND epoch_us(i.event_at) // 600000000 = b.bucket
    AND epoch_us(i.event_at) >= b.start_us
    AND epoch_us(i.event_at) < b.end_us
