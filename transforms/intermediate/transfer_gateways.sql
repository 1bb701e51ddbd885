-- Requests from an address that the settings name as shared by a cluster (NAT, proxy), with the
-- pods that may have made them.
-- Grain: address, time of a request.
-- Reads: transfer_requests, nat_addresses, transfer_holders.
WITH asked AS (
    SELECT DISTINCT
        r.client_address, r.event_us, 'cluster/' || COALESCE(n.cluster, '*') AS holder_key
    FROM transfer_requests AS r
    INNER JOIN nat_addresses AS n ON r.client_address = n.address
)

SELECT
    a.client_address,
    a.event_us,
    -- Of several clusters behind one address each has its own list, and neither is all.
    CASE WHEN COUNT(DISTINCT a.holder_key) = 1 THEN MIN(h.pods) END AS candidate_pod_uids
FROM asked AS a
LEFT JOIN transfer_holders AS h
    ON a.holder_key = h.holder_key
    AND a.event_us // 3600000000 = h.hour_bucket
    AND a.event_us >= h.segment_start_us
    AND a.event_us < h.segment_end_us
GROUP BY a.client_address, a.event_us
