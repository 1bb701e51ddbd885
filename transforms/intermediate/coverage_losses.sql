-- What telemetry says of its own gaps, as stretches of time.
-- A report without a stretch of its own stands for 1 s on both sides of its time; one without any
-- time for its whole file, the one that begins and ends first of those that hold the report.
-- Grain: one report.
-- Reads: all_loss_reports, export_files.
-- Parameters: $scope (cluster, or null for the fleet).
WITH reports AS (
    SELECT
        l.source, l.node, l.lost_count, l.kind,
        COALESCE(NULLIF(l.reason, ''), l.kind) AS reason,
        l.start_at < l.end_at AS has_stretch,
        l.start_at, l.end_at,
        COALESCE(l.event_at, l.start_at, l.end_at) AS told_at,
        f.first_event_at, f.last_event_at
    FROM all_loss_reports AS l
    INNER JOIN export_files AS f ON l.export_file_id = f.export_file_id
    WHERE l.cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY l.source_format, l.record_id, l.row_index
        ORDER BY f.first_event_at, f.last_event_at, f.content_hash, f.node
    ) = 1
)

SELECT
    source, node, lost_count, kind, kind || ': ' || reason AS reason,
    CASE
        WHEN has_stretch THEN epoch_us(start_at)
        WHEN told_at IS NOT NULL THEN epoch_us(told_at) - 1000000
        ELSE epoch_us(first_event_at)
    END AS start_us,
    CASE
        WHEN has_stretch THEN epoch_us(end_at)
        WHEN told_at IS NOT NULL THEN epoch_us(told_at) + 1000000
        ELSE epoch_us(last_event_at) + 1
    END AS end_us
FROM reports
WHERE COALESCE(told_at, first_event_at) IS NOT NULL
