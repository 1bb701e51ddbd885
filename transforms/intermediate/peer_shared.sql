-- Pods that may stand behind an address that the settings name as shared (NAT, proxy): those of its
-- cluster, or of all where none is stated, that lived in the window.
-- Grain: address, window of five minutes; none where more pods lived than candidates are kept.
-- Reads: peer_windows, peer_addresses, nat_addresses, pod_intervals.
-- Parameters: $guard_us (skew guard), $most (longest list of candidates).
WITH asked AS (
    SELECT DISTINCT w.local_number, w.window_number, n.cluster
    FROM peer_windows AS w
    INNER JOIN peer_addresses AS a ON w.local_number = a.address_number
    INNER JOIN nat_addresses AS n
        ON a.address = n.address AND COALESCE(n.cluster = a.cluster, TRUE)
    WHERE w.is_behind_nat
),

lives AS (
    SELECT
        cluster, pod_uid,
        MIN(epoch_us(start_at)) - CAST($guard_us AS BIGINT) AS from_us,
        MAX(COALESCE(epoch_us(end_at), 9223372036854775807 - CAST($guard_us AS BIGINT)))
        + CAST($guard_us AS BIGINT) AS until_us
    FROM pod_intervals
    WHERE address IS NOT NULL
    GROUP BY cluster, pod_uid
),

met AS (
    SELECT DISTINCT a.local_number, a.window_number, p.pod_uid
    FROM asked AS a
    INNER JOIN lives AS p
        ON COALESCE(a.cluster = p.cluster, TRUE)
        AND p.from_us < (a.window_number + 1) * 300000000
        AND p.until_us > a.window_number * 300000000
),

few AS (
    SELECT local_number, window_number
    FROM met
    GROUP BY local_number, window_number
    HAVING COUNT(*) <= CAST($most AS BIGINT)
)

SELECT m.local_number, m.window_number, LIST_SORT(LIST(m.pod_uid)) AS pods
FROM met AS m
INNER JOIN few AS f ON m.local_number = f.local_number AND m.window_number = f.window_number
GROUP BY m.local_number, m.window_number
