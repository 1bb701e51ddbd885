-- What is said against the coverage of a run's pod time: losses and reasons, each statement once
-- however many pods of the run it meets.
-- Grain: one run, cluster and source.
-- Reads: run_pod_times, coverage_intervals.
WITH met AS (
    SELECT DISTINCT
        t.run_uuid, t.cluster, i.source, i.date, i.node_coverage_id, i.lost_count, i.reason
    FROM run_pod_times AS t
    INNER JOIN coverage_intervals AS i
        ON t.date = i.date
        AND t.cluster = i.cluster
        AND (i.node IS NULL OR t.node = i.node)
        AND t.start_us < i.end_us
        AND i.start_us < t.end_us
    WHERE t.node IS NOT NULL AND (i.doubt > 1 OR i.lost_count > 0)
)

SELECT
    run_uuid, cluster, source,
    SUM(COALESCE(lost_count, 0)) AS lost_count,
    LIST(DISTINCT reason) FILTER (WHERE reason IS NOT NULL) AS reasons
FROM met
GROUP BY run_uuid, cluster, source
