-- Requests from an address that the settings name as shared by a cluster (NAT, proxy), with the
-- pods that may have made them.
-- Grain: address, time of a request.
-- Reads: transfer_requests, nat_addresses, transfer_pods.
-- Parameters: $guard_us (skew guard), $most (longest list of candidates).
WITH asked AS (
    SELECT DISTINCT r.client_address, n.cluster, r.event_us
    FROM transfer_requests AS r
    INNER JOIN nat_addresses AS n ON r.client_address = n.address
),

alive AS (
    SELECT a.client_address, a.event_us, LIST_SORT(LIST(DISTINCT p.pod_uid)) AS pods
    FROM asked AS a
    INNER JOIN transfer_pods AS p
        ON (a.cluster IS NULL OR a.cluster = p.cluster)
        AND a.event_us >= p.start_us - CAST($guard_us AS BIGINT)
        AND a.event_us < p.end_us + CAST($guard_us AS BIGINT)
    GROUP BY a.client_address, a.event_us
)

SELECT DISTINCT
    a.client_address,
    a.event_us,
    CASE WHEN LEN(v.pods) <= CAST($most AS BIGINT) THEN v.pods END AS candidate_pod_uids
FROM asked AS a
LEFT JOIN alive AS v ON a.client_address = v.client_address AND a.event_us = v.event_us
