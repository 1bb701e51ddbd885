-- The time in which pods of the asked runs held an address (or waited for one), up to the end of the day,
-- cut at midnight and merged over the addresses of a pod: no instant of a pod counts twice.
-- Grain: one piece of one pod's time on one day.
-- Reads: pod_intervals (all days), active_runs.
-- Parameters: $date.
WITH pieces AS (
    SELECT
        p.date, p.cluster, p.pod_uid, p.run_uuid, p.attempt, p.node, p.address, p.host_network,
        GREATEST(
            epoch_us(p.start_at), epoch_us(CAST(p.date AS TIMESTAMP))
        ) AS start_us,
        LEAST(
            COALESCE(epoch_us(p.end_at), 4000000000000000000),
            epoch_us(CAST(p.date AS TIMESTAMP)) + 86400000000
        ) AS end_us
    FROM pod_intervals AS p
    -- Null is one of them where pods of no run are asked for.
    INNER JOIN active_runs AS r ON p.run_uuid IS NOT DISTINCT FROM r.run_uuid
    WHERE p.date <= CAST($date AS DATE)
),

-- A piece begins a new island where it starts after all earlier ones have ended.
marked AS (
    SELECT
        *,
        CASE
            WHEN start_us <= MAX(end_us) OVER (
                PARTITION BY date, cluster, pod_uid ORDER BY start_us, end_us
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0
            ELSE 1
        END AS is_first
    FROM pieces
    WHERE start_us < end_us
),

-- Equal ones come in any order, so that they are counted together.
numbered AS (
    SELECT
        *,
        SUM(is_first) OVER (
            PARTITION BY date, cluster, pod_uid ORDER BY start_us, end_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM marked
)

SELECT
    date, cluster, pod_uid,
    MAX(run_uuid) AS run_uuid,
    MAX(attempt) AS attempt,
    MAX(node) AS node,
    -- A pod that has an address runs somewhere, also where no state names its node.
    MAX(node) IS NOT NULL OR COUNT(address) > 0 AS is_bound,
    BOOL_OR(host_network) AS is_host_network,
    MIN(start_us) AS start_us,
    MAX(end_us) AS end_us
FROM numbered
GROUP BY date, cluster, pod_uid, island
