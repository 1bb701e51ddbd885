-- Who holds an address that is asked for, and when, by widened intervals: a pod, or what makes it a
-- node's (a node or a host-network pod).
-- Grain: place (its number in pod_match_wanted), holder; its intervals joined where they touch, so
-- that they count holders. `holder`: the pod's number, below 0 the node's.
-- Reads: pod_match_wanted, pod_match_lives, pod_match_nodes.
-- Parameters: $guard_us (skew guard, microseconds).
WITH claims AS (
    SELECT
        cluster, address, NOT host_network AS is_pod, pod_number AS holder, is_single,
        start_us, end_us
    FROM pod_match_lives
    WHERE address IS NOT NULL
    UNION ALL
    SELECT
        cluster, address, FALSE AS is_pod, -node_number AS holder, FALSE AS is_single,
        start_us, end_us
    FROM pod_match_nodes
),

held AS (
    SELECT
        w.place, c.is_pod, c.holder, c.is_single,
        c.start_us - CAST($guard_us AS BIGINT) AS start_us,
        c.end_us + CAST($guard_us AS BIGINT) AS end_us
    FROM claims AS c
    INNER JOIN pod_match_wanted AS w ON c.address = w.address
    WHERE w.key_cluster = '*' OR w.key_cluster = c.cluster
),

-- Few holders have several intervals: only these can touch.
marked AS (
    SELECT
        *,
        COALESCE(
            start_us > MAX(end_us) OVER (
                PARTITION BY place, is_pod, holder
                ORDER BY start_us, end_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            TRUE
        ) AS is_first
    FROM held
    WHERE end_us > start_us AND NOT is_single
),

-- Equal ones come in any order, so that they are counted together.
numbered AS (
    SELECT
        *,
        COUNT(*) FILTER (WHERE is_first) OVER (
            PARTITION BY place, is_pod, holder
            ORDER BY start_us, end_us RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM marked
)

SELECT
    place, is_pod, holder,
    MIN(start_us) AS start_us,
    MAX(end_us) AS end_us
FROM numbered
GROUP BY place, is_pod, holder, island
UNION ALL
SELECT place, is_pod, holder, start_us, end_us
FROM held
WHERE end_us > start_us AND is_single
