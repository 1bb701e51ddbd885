-- Where a lower layer saw more for certain than the layer above it can have: an interface moves all
-- that flow records see, and these all that a request log sees. Layers whose bytes hold more of the
-- packet than those above them are not compared.
-- Grain: pod, direction, hour (null: the day) with a violation.
-- Reads: balance_lower, balance_growth, balance_flows.
-- Parameters: $guard_us (skew guard).
WITH growth AS (
    SELECT DISTINCT
        counter_increment_id, pod_uid, direction, from_us, until_us, bytes, is_reset, byte_layer
    FROM balance_growth
),

-- Also increments that only the guard brings into the hour.
near AS (
    SELECT
        *,
        UNNEST(RANGE(
            (from_us - CAST($guard_us AS BIGINT)) // 3600000000,
            (until_us + CAST($guard_us AS BIGINT) - 1) // 3600000000 + 1
        )) AS hour_number
    FROM growth
),

interfaces AS (
    SELECT
        pod_uid, direction, hour_number,
        CASE WHEN NOT BOOL_OR(is_reset) THEN SUM(bytes) END AS max_bytes,
        MIN(layer_rank(byte_layer)) AS layer_rank
    FROM near
    GROUP BY pod_uid, direction, hour_number
    UNION ALL
    SELECT
        pod_uid, direction,
        CAST(NULL AS BIGINT) AS hour_number,
        CASE WHEN NOT BOOL_OR(is_reset) THEN SUM(bytes) END AS max_bytes,
        MIN(layer_rank(byte_layer)) AS layer_rank
    FROM growth
    GROUP BY pod_uid, direction
),

flows AS (
    SELECT pod_uid, direction, hour_number, max_flow_bytes AS max_bytes
    FROM balance_flows
    WHERE pod_uid IS NOT NULL AND flow_bytes IS NOT NULL
),

-- What the log saw in hours that have flow records: without one, none may have been exported.
logged_day AS (
    SELECT
        l.pod_uid, l.direction,
        SUM(l.log_bytes) AS log_bytes,
        CASE WHEN COUNT(*) = COUNT(f.max_bytes) THEN SUM(f.max_bytes) END AS max_bytes
    FROM flows AS f
    INNER JOIN balance_lower AS l
        ON f.pod_uid = l.pod_uid AND f.direction = l.direction AND f.hour_number = l.hour_number
    GROUP BY l.pod_uid, l.direction
),

judged AS (
    SELECT
        l.pod_uid,
        l.direction,
        l.hour_number,
        COALESCE(
            i.max_bytes < l.counted_flow_bytes AND l.flow_layer_rank <= i.layer_rank, FALSE
        ) AS is_flow_above,
        COALESCE(i.max_bytes < l.counted_log_bytes, FALSE) AS is_log_above,
        COALESCE(
            CASE
                WHEN l.hour_number IS NULL THEN d.max_bytes < d.log_bytes
                ELSE f.max_bytes < l.log_bytes
            END,
            FALSE
        ) AS is_log_above_flow
    FROM balance_lower AS l
    LEFT JOIN interfaces AS i
        ON l.pod_uid = i.pod_uid
        AND l.direction = i.direction
        AND l.hour_number IS NOT DISTINCT FROM i.hour_number
    LEFT JOIN flows AS f
        ON l.pod_uid = f.pod_uid AND l.direction = f.direction AND l.hour_number = f.hour_number
    LEFT JOIN logged_day AS d ON l.pod_uid = d.pod_uid AND l.direction = d.direction
)

SELECT
    pod_uid,
    direction,
    hour_number,
    LIST_CONCAT(
        CASE WHEN is_flow_above THEN ['flow_exceeds_interface'] ELSE [] END,
        CASE WHEN is_log_above_flow THEN ['storage_log_exceeds_flow'] ELSE [] END,
        CASE WHEN is_log_above THEN ['storage_log_exceeds_interface'] ELSE [] END
    ) AS violations
FROM judged
WHERE is_flow_above OR is_log_above OR is_log_above_flow
