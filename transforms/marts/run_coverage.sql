-- How far each source observed a run, over its life up to the end of the day (definitions.md 32,
-- 33).
-- Grain: one run active on the day and one source that should have observed it; dense.
-- Reads: active_runs, run_pod_times, coverage_sources, coverage_overlaps, coverage_gaps.
WITH lives AS (
    SELECT run_uuid, cluster, SUM(end_us - start_us) AS pod_us
    FROM run_pod_times
    WHERE is_bound
    GROUP BY run_uuid, cluster
),

-- A run of which no pod was seen may be in any cluster: every source should have shown one.
homes AS (
    SELECT run_uuid, cluster, pod_us FROM lives
    UNION ALL
    SELECT r.run_uuid, COALESCE(r.cluster, s.cluster) AS cluster, 0 AS pod_us
    FROM active_runs AS r
    INNER JOIN (SELECT DISTINCT cluster FROM coverage_sources) AS s
        ON COALESCE(r.cluster, s.cluster) = s.cluster
    WHERE r.run_uuid NOT IN (SELECT run_uuid FROM lives)
),

summed AS (
    SELECT
        h.run_uuid,
        s.source,
        CAST(SUM(h.pod_us) AS BIGINT) AS expected_us,
        CAST(SUM(COALESCE(o.covered_us, 0)) AS BIGINT) AS covered_us,
        CAST(SUM(COALESCE(o.known_us, 0) - COALESCE(o.covered_us, 0)) AS BIGINT) AS doubtful_us,
        CAST(SUM(COALESCE(o.spoken_us, 0)) AS BIGINT) AS spoken_us,
        CAST(LEAST(SUM(COALESCE(g.lost_count, 0)), 9223372036854775807) AS BIGINT) AS lost_count,
        FLATTEN(LIST(COALESCE(g.reasons, []))) AS reasons
    FROM homes AS h
    INNER JOIN coverage_sources AS s ON h.cluster = s.cluster
    LEFT JOIN coverage_overlaps AS o
        ON h.run_uuid = o.run_uuid AND h.cluster = o.cluster AND s.source = o.source
    LEFT JOIN coverage_gaps AS g
        ON h.run_uuid = g.run_uuid AND h.cluster = g.cluster AND s.source = g.source
    GROUP BY h.run_uuid, s.source
)

SELECT
    row_id([id_text(c.run_uuid), id_text(c.source)]) AS run_coverage_id,
    c.run_uuid,
    c.source,
    r.cluster,
    r.project,
    c.expected_us,
    c.covered_us,
    c.doubtful_us,
    CAST(c.covered_us AS DOUBLE) / 1000000 AS covered_seconds,
    CASE
        WHEN c.expected_us > 0 THEN CAST(c.covered_us AS DOUBLE) / CAST(c.expected_us AS DOUBLE)
    END AS coverage_ratio,
    c.lost_count,
    CASE
        WHEN c.covered_us = c.expected_us THEN CAST([] AS VARCHAR[])
        WHEN c.spoken_us < c.expected_us
            THEN LIST_SORT(LIST_DISTINCT(LIST_APPEND(c.reasons, 'nothing said')))
        ELSE LIST_SORT(LIST_DISTINCT(c.reasons))
    END AS reasons,
    CASE
        WHEN c.covered_us = 0 THEN 'not_observed'
        WHEN c.covered_us = c.expected_us AND c.doubtful_us = 0 THEN 'nothing_happened'
        ELSE 'partly_observed'
    END AS empty_means,
    r.is_final
FROM summed AS c
INNER JOIN active_runs AS r ON c.run_uuid = r.run_uuid
