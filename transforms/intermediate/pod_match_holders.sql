-- Disjoint stretches of time of each address, each with who holds it.
-- Grain: cluster of the key, address, stretch; only stretches with a holder, within the times that
-- are asked for. `pod_number` where exactly one pod holds it; else `crowd`, a number below 0, for
-- the holders that pod_match_crowds lists.
-- Reads: pod_match_claims, pod_match_wanted.
WITH edges AS (
    SELECT
        key_cluster, address, edge.us AS edge_us,
        SUM(CASE WHEN holder_kind = 'pod' THEN edge.step ELSE 0 END) AS pods,
        -- While one pod holds the address, the sum of numbers is its number.
        SUM(CASE WHEN holder_kind = 'pod' THEN edge.step * pod_number ELSE 0 END) AS pod_sum,
        SUM(edge.step) AS holders
    FROM (
        SELECT *, UNNEST([{'us': start_us, 'step': 1}, {'us': end_us, 'step': -1}]) AS edge
        FROM pod_match_claims
    )
    GROUP BY key_cluster, address, edge.us
),

stretches AS (
    SELECT
        key_cluster, address, edge_us AS start_us,
        LEAD(edge_us) OVER address_in_time AS end_us,
        SUM(pods) OVER so_far AS pods,
        SUM(pod_sum) OVER so_far AS pod_sum,
        SUM(holders) OVER so_far AS holders
    FROM edges
    WINDOW
        address_in_time AS (PARTITION BY key_cluster, address ORDER BY edge_us),
        so_far AS (
            PARTITION BY key_cluster, address ORDER BY edge_us
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
)

SELECT
    s.key_cluster,
    s.address,
    CAST(
        CASE
            WHEN s.pods = 1 THEN s.pod_sum
            ELSE -1 - ROW_NUMBER() OVER (PARTITION BY s.pods = 1)
        END
        AS BIGINT
    ) AS outcome,
    GREATEST(s.start_us, w.from_us) AS start_us,
    LEAST(s.end_us, w.until_us) AS end_us
FROM stretches AS s
INNER JOIN pod_match_wanted AS w
    ON s.key_cluster = w.key_cluster AND s.address = w.address
WHERE s.holders > 0 AND s.end_us > w.from_us AND s.start_us < w.until_us
