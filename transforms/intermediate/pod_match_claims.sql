-- Who holds an address that is asked for, and when, by widened intervals: a pod, or what makes it a
-- node's (a node or a host-network pod).
-- Grain: cluster of the key (`*`: any cluster may answer), address, holder; its intervals joined
-- where they touch, so that they count holders.
-- Reads: pod_match_wanted, pod_match_lives, pod_match_nodes.
-- Parameters: $guard_us (skew guard, microseconds).
WITH claims AS (
    SELECT
        cluster, address,
        CASE WHEN host_network THEN 'host_pod' ELSE 'pod' END AS holder_kind,
        pod_uid AS holder, pod_number, start_us, end_us
    FROM pod_match_lives
    WHERE address IS NOT NULL
    UNION ALL
    SELECT
        cluster, address, 'node' AS holder_kind,
        node AS holder, CAST(0 AS BIGINT) AS pod_number, start_us, end_us
    FROM pod_match_nodes
),

held AS (
    SELECT
        w.key_cluster, c.address, c.holder_kind, c.cluster, c.holder, c.pod_number,
        c.start_us - CAST($guard_us AS BIGINT) AS start_us,
        c.end_us + CAST($guard_us AS BIGINT) AS end_us
    FROM claims AS c
    INNER JOIN pod_match_wanted AS w ON c.address = w.address
    WHERE w.key_cluster = '*' OR w.key_cluster = c.cluster
),

marked AS (
    SELECT
        *,
        COALESCE(
            start_us > MAX(end_us) OVER (
                PARTITION BY key_cluster, address, holder_kind, cluster, holder
                ORDER BY start_us, end_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            TRUE
        ) AS is_first
    FROM held
    WHERE end_us > start_us
),

-- Equal ones come in any order, so that they are counted together.
numbered AS (
    SELECT
        *,
        COUNT(*) FILTER (WHERE is_first) OVER (
            PARTITION BY key_cluster, address, holder_kind, cluster, holder
            ORDER BY start_us, end_us RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM marked
)

SELECT
    key_cluster, address, holder_kind, cluster, holder, pod_number,
    MIN(start_us) AS start_us,
    MAX(end_us) AS end_us
FROM numbered
GROUP BY key_cluster, address, holder_kind, cluster, holder, pod_number, island
