-- What is said against the coverage of a run's pod time: losses and reasons, each statement once
-- however many pods of the run it meets.
-- Grain: one run, cluster and source.
-- Reads: run_pod_times, coverage_intervals, coverage_sources.
WITH places AS (
    SELECT *, node AS place FROM run_pod_times WHERE node IS NOT NULL
    UNION ALL
    SELECT *, CAST(NULL AS VARCHAR) AS place FROM run_pod_times
),

met AS (
    SELECT DISTINCT
        t.run_uuid, t.cluster, i.source, i.date, i.node_coverage_id, i.lost_count, i.reason
    FROM places AS t
    INNER JOIN coverage_intervals AS i
        ON t.date = i.date
        AND t.cluster = i.cluster
        AND t.place IS NOT DISTINCT FROM i.node
        AND t.start_us < i.end_us
        AND i.start_us < t.end_us
    WHERE t.is_bound AND (i.doubt > 1 OR i.lost_count > 0)
    UNION ALL
    SELECT DISTINCT
        t.run_uuid, t.cluster, s.source, CAST(NULL AS DATE), CAST(NULL AS VARCHAR),
        CAST(NULL AS BIGINT), 'a pod on its node''s network is told as the node'
    FROM run_pod_times AS t
    INNER JOIN coverage_sources AS s ON t.cluster = s.cluster
    WHERE
        t.is_bound AND t.is_host_network
        AND s.source IN ('flows', 'dns_lookups', 'counter_samples', 'volume_records')
)

SELECT
    run_uuid, cluster, source,
    SUM(COALESCE(lost_count, 0)) AS lost_count,
    LIST(DISTINCT reason) FILTER (WHERE reason IS NOT NULL) AS reasons
FROM met
GROUP BY run_uuid, cluster, source
