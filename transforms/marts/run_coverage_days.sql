-- How far each source observed a run's pods on one day (definitions.md 32, 33).
-- Grain: one run, cluster and source; dense over the runs with pods. A null run: all pods of none.
-- Reads: run_pod_times, coverage_sources, coverage_overlaps, coverage_gaps (all of the day).
WITH lives AS (
    SELECT run_uuid, cluster, SUM(end_us - start_us) AS pod_us
    FROM run_pod_times
    WHERE is_bound
    GROUP BY run_uuid, cluster
),

summed AS (
    SELECT
        l.cluster,
        l.run_uuid,
        s.source,
        CAST(l.pod_us AS BIGINT) AS expected_us,
        CAST(COALESCE(o.covered_us, 0) AS BIGINT) AS covered_us,
        CAST(COALESCE(o.known_us, 0) - COALESCE(o.covered_us, 0) AS BIGINT) AS doubtful_us,
        COALESCE(o.spoken_us, 0) AS spoken_us,
        CAST(LEAST(COALESCE(g.lost_count, 0), 9223372036854775807) AS BIGINT) AS lost_count,
        COALESCE(g.reasons, []) AS reasons
    FROM lives AS l
    INNER JOIN coverage_sources AS s ON l.cluster = s.cluster
    LEFT JOIN coverage_overlaps AS o
        ON l.run_uuid IS NOT DISTINCT FROM o.run_uuid
        AND l.cluster = o.cluster
        AND s.source = o.source
    LEFT JOIN coverage_gaps AS g
        ON l.run_uuid IS NOT DISTINCT FROM g.run_uuid
        AND l.cluster = g.cluster
        AND s.source = g.source
)

SELECT
    row_id([id_text(cluster), id_text(run_uuid), id_text(source)]) AS run_coverage_day_id,
    cluster,
    run_uuid,
    source,
    expected_us,
    covered_us,
    doubtful_us,
    lost_count,
    CASE
        WHEN covered_us = expected_us THEN CAST([] AS VARCHAR[])
        WHEN spoken_us < expected_us
            THEN LIST_SORT(LIST_DISTINCT(LIST_APPEND(reasons, 'nothing said')))
        ELSE LIST_SORT(LIST_DISTINCT(reasons))
    END AS reasons,
    CASE
        WHEN covered_us = 0 THEN 'not_observed'
        WHEN covered_us = expected_us AND doubtful_us = 0 THEN 'nothing_happened'
        ELSE 'partly_observed'
    END AS empty_means
FROM summed
