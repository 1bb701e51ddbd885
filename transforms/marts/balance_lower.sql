-- What flows and request logs saw of a pod for certain, wholly inside an hour or the day, and at a
-- time in which the pod's interface was counted; of requests also all, for the flows above them.
-- Grain: pod, direction, hour (null: the day).
-- Reads: peer_traffic, dependency_objects, object_transfers, balance_islands.
-- Parameters: $date, $start_us and $end_us (the day), $guard_us (skew guard).
WITH flows AS (
    SELECT
        pod_uid, direction, min_bytes,
        layer_rank(byte_layer) AS layer_rank,
        epoch_us(window_start_at) AS from_us,
        epoch_us(window_start_at) + 300000000 AS until_us
    FROM peer_traffic
    WHERE date = CAST($date AS DATE) AND is_chosen AND pod_uid IS NOT NULL AND min_bytes > 0
),

requests AS (
    SELECT
        o.pod_uid,
        CASE WHEN o.has_sent THEN 'transmit' ELSE 'receive' END AS direction,
        o.bytes AS min_bytes,
        epoch_us(o.first_at) AS from_us,
        GREATEST(epoch_us(o.last_at), epoch_us(o.first_at) + 1) AS until_us,
        t.duration_seconds IS NOT NULL AS is_timed
    FROM dependency_objects AS o
    INNER JOIN object_transfers AS t ON o.transfer_id = t.transfer_id
    WHERE
        t.date = CAST($date AS DATE)
        AND o.pod_uid IS NOT NULL
        AND o.bytes > 0
        AND (o.has_received OR o.has_sent)
),

seen AS (
    SELECT
        pod_uid, direction, from_us, until_us, layer_rank,
        min_bytes AS flow_bytes,
        CAST(NULL AS BIGINT) AS log_bytes,
        from_us AS guarded_from_us,
        until_us AS guarded_until_us,
        TRUE AS is_timed
    FROM flows
    UNION ALL
    SELECT
        pod_uid, direction, from_us, until_us,
        1 AS layer_rank,
        CAST(NULL AS BIGINT) AS flow_bytes,
        min_bytes AS log_bytes,
        from_us - CAST($guard_us AS BIGINT) AS guarded_from_us,
        until_us + CAST($guard_us AS BIGINT) AS guarded_until_us,
        is_timed
    FROM requests
),

-- Requests whose duration is not logged lie wholly inside a day, not for sure inside an hour.
placed AS (
    SELECT
        *,
        CASE
            WHEN
                is_timed
                AND guarded_from_us // 3600000000 = (guarded_until_us - 1) // 3600000000
                THEN from_us // 3600000000
        END AS hour_number,
        guarded_from_us >= CAST($start_us AS BIGINT) AND guarded_until_us <= CAST($end_us AS BIGINT)
            AS is_inside_day
    FROM seen
),

counted AS (
    SELECT
        p.*,
        EXISTS (
            SELECT 1
            FROM balance_islands AS i
            WHERE
                i.pod_uid = p.pod_uid
                AND i.direction = p.direction
                AND i.from_us <= p.from_us
                AND i.until_us >= p.until_us
        ) AS is_counted
    FROM placed AS p
),

scoped AS (
    SELECT * EXCLUDE (is_inside_day) FROM counted WHERE hour_number IS NOT NULL
    UNION ALL
    SELECT * EXCLUDE (is_inside_day) REPLACE (CAST(NULL AS BIGINT) AS hour_number)
    FROM counted
    WHERE is_inside_day
)

SELECT
    pod_uid,
    direction,
    hour_number,
    COALESCE(SUM(flow_bytes) FILTER (WHERE is_counted), 0) AS counted_flow_bytes,
    COALESCE(SUM(log_bytes) FILTER (WHERE is_counted), 0) AS counted_log_bytes,
    COALESCE(SUM(log_bytes), 0) AS log_bytes,
    MAX(layer_rank) FILTER (WHERE flow_bytes IS NOT NULL) AS flow_layer_rank
FROM scoped
GROUP BY pod_uid, direction, hour_number
