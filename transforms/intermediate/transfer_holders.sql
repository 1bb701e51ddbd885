-- Which pods lived at a time under a name, a beginning of a name, a service account, or in a
-- cluster: disjoint segments of time, cut into hours, so that no request meets pod after pod.
-- Grain: key (`name/…`, `short/…`, `account/…`, `cluster/…`), segment, hour bucket.
-- Reads: transfer_requests, transfer_credentials, transfer_sessions, transfer_names,
--   transfer_pods, nat_addresses.
-- Parameters: $guard_us (skew guard), $most (longest list of candidates).
WITH bounds AS (
    SELECT MIN(event_us) AS from_us, MAX(event_us) + 1 AS until_us
    FROM transfer_requests
),

wanted AS (
    SELECT holder_key FROM transfer_names
    UNION
    SELECT 'account/' || account AS holder_key FROM transfer_sessions WHERE account IS NOT NULL
    UNION
    SELECT 'cluster/' || COALESCE(cluster, '*') AS holder_key
    FROM nat_addresses
    WHERE address IN (SELECT client_address FROM transfer_requests)
),

claims AS (
    SELECT 'name/' || pod_name AS holder_key, pod_uid, run_uuid, start_us, end_us
    FROM transfer_pods
    UNION ALL
    SELECT 'short/' || SUBSTRING(pod_name, 1, 10) AS holder_key, pod_uid, run_uuid, start_us, end_us
    FROM transfer_pods
    UNION ALL
    SELECT 'account/' || namespace || '/' || service_account AS holder_key, pod_uid, run_uuid,
        start_us, end_us
    FROM transfer_pods
    WHERE service_account IS NOT NULL
    UNION ALL
    SELECT 'cluster/' || cluster AS holder_key, pod_uid, run_uuid, start_us, end_us
    FROM transfer_pods
    UNION ALL
    SELECT 'cluster/*' AS holder_key, pod_uid, run_uuid, start_us, end_us
    FROM transfer_pods
),

held AS (
    SELECT
        c.holder_key, c.pod_uid, c.run_uuid,
        GREATEST(c.start_us - CAST($guard_us AS BIGINT), b.from_us) AS start_us,
        LEAST(c.end_us + CAST($guard_us AS BIGINT), b.until_us) AS end_us
    FROM claims AS c
    INNER JOIN wanted AS w ON c.holder_key = w.holder_key
    CROSS JOIN bounds AS b
    WHERE
        c.start_us - CAST($guard_us AS BIGINT) < b.until_us
        AND c.end_us + CAST($guard_us AS BIGINT) > b.from_us
),

edges AS (
    SELECT holder_key, start_us AS edge_us, 1 AS step FROM held
    UNION ALL
    SELECT holder_key, end_us AS edge_us, -1 AS step FROM held
),

steps AS (
    SELECT holder_key, edge_us, SUM(step) AS step
    FROM edges
    GROUP BY holder_key, edge_us
),

segments AS (
    SELECT
        holder_key,
        edge_us AS segment_start_us,
        LEAD(edge_us) OVER in_time AS segment_end_us,
        SUM(step) OVER in_time AS pod_count
    FROM steps
    WINDOW in_time AS (PARTITION BY holder_key ORDER BY edge_us)
),

listed AS (
    SELECT
        s.holder_key,
        s.segment_start_us,
        s.segment_end_us,
        s.pod_count,
        CASE
            WHEN s.pod_count <= CAST($most AS BIGINT)
                THEN LIST_SORT(LIST(h.pod_uid) FILTER (WHERE s.pod_count <= CAST($most AS BIGINT)))
        END AS pods,
        CASE
            WHEN COUNT(h.run_uuid) = s.pod_count AND MIN(h.run_uuid) = MAX(h.run_uuid)
                THEN MIN(h.run_uuid)
        END AS run_uuid
    FROM segments AS s
    LEFT JOIN held AS h
        ON s.holder_key = h.holder_key
        AND h.start_us <= s.segment_start_us
        AND h.end_us > s.segment_start_us
        -- Long lists are not told; only accounts need what all their pods have in common.
        AND (s.pod_count <= CAST($most AS BIGINT) OR STARTS_WITH(s.holder_key, 'account/'))
    WHERE s.pod_count > 0 AND s.segment_end_us IS NOT NULL
    GROUP BY s.holder_key, s.segment_start_us, s.segment_end_us, s.pod_count
)

SELECT
    *,
    UNNEST(RANGE(segment_start_us // 3600000000, (segment_end_us - 1) // 3600000000 + 1))
        AS hour_bucket
FROM listed
