-- Exports that leave out what a connection is known by: lines that count flows instead of telling
-- them (field aggregation), and exports that tell drops alone (a filter by verdict).
-- Grain: one export and node of which the day's flows tell so.
-- Reads: all_flows, export_files.
-- Parameters: $cluster, $day_start, $day_end.
WITH told AS (
    SELECT
        export_file_id, node,
        COUNT(flow_count) AS aggregated_count,
        COUNT(verdict) AS verdict_count,
        COUNT(*) FILTER (WHERE verdict = 'DROPPED') AS drop_count
    FROM all_flows
    WHERE
        cluster = $cluster
        AND agent_event IS NULL
        AND event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
    GROUP BY export_file_id, node
),

-- An export delivers what it brought a copy of, too.
deliverers AS (
    SELECT DISTINCT f.export_file_id, g.export, f.node
    FROM export_files AS f
    INNER JOIN export_files AS g
        ON f.content_hash = g.content_hash
        AND f.node IS NOT DISTINCT FROM g.node
        AND f.cluster = g.cluster
    WHERE f.format = 'hubble' AND g.format = 'hubble' AND f.cluster = $cluster
),

summed AS (
    SELECT
        d.export,
        COALESCE(t.node, d.node) AS node,
        SUM(t.aggregated_count) AS aggregated_count,
        SUM(t.verdict_count) AS verdict_count,
        SUM(t.drop_count) AS drop_count
    FROM told AS t
    INNER JOIN deliverers AS d ON t.export_file_id = d.export_file_id
    GROUP BY d.export, COALESCE(t.node, d.node)
)

SELECT
    export, node,
    CASE WHEN aggregated_count > 0 THEN 'masked' ELSE 'unknown' END AS status,
    CASE
        WHEN aggregated_count > 0 THEN 'lines count flows'
        ELSE 'only dropped flows are told'
    END AS reason
FROM summed
WHERE aggregated_count > 0 OR (verdict_count > 0 AND verdict_count = drop_count)
