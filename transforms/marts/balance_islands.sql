-- Times in which a pod's one interface was counted without a break: only what lies wholly inside can
-- contradict the counter. A counter that began with the pod was there before its first packet.
-- Grain: pod, direction, unbroken time.
-- Reads: balance_growth.
WITH single AS (
    SELECT pod_uid
    FROM balance_growth
    GROUP BY pod_uid
    HAVING MIN(COALESCE(interface, '')) = MAX(COALESCE(interface, ''))
),

intervals AS (
    SELECT DISTINCT
        g.pod_uid,
        g.direction,
        CASE WHEN g.is_start_known THEN g.from_us // 300000000 * 300000000 ELSE g.from_us END
            AS from_us,
        g.until_us
    FROM balance_growth AS g
    INNER JOIN single AS s ON g.pod_uid = s.pod_uid
),

marked AS (
    SELECT
        *,
        COALESCE(
            from_us > MAX(until_us) OVER (
                PARTITION BY pod_uid, direction
                ORDER BY from_us, until_us
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            TRUE
        ) AS begins
    FROM intervals
),

numbered AS (
    SELECT
        *,
        COUNT(*) FILTER (WHERE begins) OVER (
            PARTITION BY pod_uid, direction ORDER BY from_us, until_us ROWS UNBOUNDED PRECEDING
        ) AS island
    FROM marked
)

SELECT pod_uid, direction, MIN(from_us) AS from_us, MAX(until_us) AS until_us
FROM numbered
GROUP BY pod_uid, direction, island
