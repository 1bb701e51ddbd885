-- Who shares the stretches of an address that no single pod holds: several pods, or a node.
-- Grain: stretch, by its number in pod_match_holders, and holder.
-- Reads: pod_match_holders, pod_match_claims, pod_match_wanted.
SELECT h.outcome, w.address, c.is_pod, c.holder
FROM pod_match_holders AS h
INNER JOIN pod_match_wanted AS w ON h.place = w.place
INNER JOIN pod_match_claims AS c
    ON h.place = c.place
    AND h.start_us >= c.start_us
    AND h.start_us < c.end_us
WHERE h.outcome < 0
