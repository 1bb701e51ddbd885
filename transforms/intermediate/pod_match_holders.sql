-- Disjoint stretches of time of each address, each with who holds it.
-- Grain: place (its number in pod_match_wanted), stretch; only stretches with a holder, within the
-- times that are asked for. `outcome`: the number of the pod where exactly one holds it, else a
-- number below 0 for the holders that pod_match_members lists.
-- Reads: pod_match_claims, pod_match_wanted.
WITH edges AS (
    SELECT
        place, edge.us AS edge_us,
        SUM(CASE WHEN is_pod THEN edge.step ELSE 0 END) AS pods,
        -- While one pod holds the address, the sum of numbers is its number.
        SUM(CASE WHEN is_pod THEN edge.step * holder ELSE 0 END) AS pod_sum,
        SUM(edge.step) AS holders
    FROM (
        SELECT *, UNNEST([{'us': start_us, 'step': 1}, {'us': end_us, 'step': -1}]) AS edge
        FROM pod_match_claims
    )
    GROUP BY place, edge.us
),

stretches AS (
    SELECT
        place, edge_us AS start_us,
        LEAD(edge_us) OVER in_time AS end_us,
        SUM(pods) OVER so_far AS pods,
        SUM(pod_sum) OVER so_far AS pod_sum,
        SUM(holders) OVER so_far AS holders
    FROM edges
    WINDOW
        in_time AS (PARTITION BY place ORDER BY edge_us),
        so_far AS (
            PARTITION BY place ORDER BY edge_us
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
)

SELECT
    s.place,
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
INNER JOIN pod_match_wanted AS w ON s.place = w.place
WHERE s.holders > 0 AND s.end_us > w.from_us AND s.start_us < w.until_us
