-- Disjoint stretches of time of each address, each with who holds it.
-- Grain: place (its number in pod_match_wanted), stretch; only stretches with a holder, within the
-- times that are asked for. `owner`: the number of the pod where exactly one holds it, else a
-- number below 0 for the holders that pod_match_crowds lists.
-- Reads: pod_match_claims, pod_match_wanted.
WITH edges AS (
    SELECT
        place, edge.us AS edge_us,
        CASE WHEN is_pod THEN edge.step ELSE 0 END AS pods,
        CASE WHEN is_pod THEN edge.step * holder ELSE 0 END AS pod_sum,
        edge.step AS holders
    FROM (
        SELECT *, UNNEST([{'us': start_us, 'step': 1}, {'us': end_us, 'step': -1}]) AS edge
        FROM pod_match_claims
    )
),

-- Edges of one time have the same sums; the stretch begins with the last of them.
stretches AS (
    SELECT
        place, edge_us AS start_us,
        LEAD(edge_us) OVER in_time AS end_us,
        SUM(pods) OVER in_time AS pods,
        -- While one pod holds the address, the sum of numbers is its number.
        SUM(pod_sum) OVER in_time AS pod_sum,
        SUM(holders) OVER in_time AS holders
    FROM edges
    WINDOW in_time AS (PARTITION BY place ORDER BY edge_us)
)

SELECT
    s.place,
    CAST(
        CASE
            WHEN s.pods = 1 THEN s.pod_sum
            ELSE -1 * ROW_NUMBER() OVER (PARTITION BY s.pods = 1)
        END
        AS BIGINT
    ) AS owner,
    GREATEST(s.start_us, w.from_us) AS start_us,
    LEAST(s.end_us, w.until_us) AS end_us
FROM stretches AS s
INNER JOIN pod_match_wanted AS w ON s.place = w.place
WHERE
    s.holders > 0
    AND s.end_us > s.start_us
    AND s.end_us > w.from_us
    AND s.start_us < w.until_us
