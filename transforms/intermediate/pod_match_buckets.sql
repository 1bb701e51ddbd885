-- The stretches of pod_match_holders cut into buckets of a quarter of an hour, as items ask them.
-- Grain: cluster of the key, address, bucket, stretch.
-- Reads: pod_match_holders, pod_match_wanted.
SELECT
    w.key_cluster, w.address, h.owner, h.start_us, h.end_us,
    UNNEST(RANGE(h.start_us // 900000000, (h.end_us - 1) // 900000000 + 1)) AS bucket
FROM pod_match_holders AS h
INNER JOIN pod_match_wanted AS w ON h.place = w.place
