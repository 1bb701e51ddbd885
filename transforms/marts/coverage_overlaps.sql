-- Pod time inside covered, doubtful and spoken-of stretches, summed over a run's life.
-- Grain: one run, cluster and source.
-- Reads: run_pod_times, coverage_islands.
WITH places AS (
    SELECT *, node AS place FROM run_pod_times WHERE node IS NOT NULL
    UNION ALL
    SELECT *, CAST(NULL AS VARCHAR) AS place FROM run_pod_times
),

shared_times AS (
    SELECT
        t.run_uuid, t.cluster, i.source, i.level,
        -- What a pod on its node's network does is told as the node's.
        t.is_host_network AND i.source IN (
            'flows', 'dns_lookups', 'counter_samples', 'volume_records'
        ) AS is_hidden,
        LEAST(t.end_us, i.end_us) - GREATEST(t.start_us, i.start_us) AS overlap_us
    FROM places AS t
    INNER JOIN coverage_islands AS i
        ON t.date = i.date
        AND t.cluster = i.cluster
        AND t.place IS NOT DISTINCT FROM i.node
        AND t.start_us < i.end_us
        AND i.start_us < t.end_us
    WHERE t.is_bound
)

SELECT
    run_uuid, cluster, source,
    SUM(CASE WHEN level = 1 AND NOT is_hidden THEN overlap_us ELSE 0 END) AS covered_us,
    SUM(CASE WHEN level = 2 THEN overlap_us ELSE 0 END) AS known_us,
    SUM(CASE WHEN level = 3 THEN overlap_us ELSE 0 END) AS spoken_us
FROM shared_times
GROUP BY run_uuid, cluster, source
