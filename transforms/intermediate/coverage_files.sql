-- Hubble files of each node: from which to which event each goes, and when it was rotated.
-- A file goes from the first to the last of all its events, repeated ones too; one whose rows name
-- several nodes does so per node.
-- Grain: one content of one export and node.
-- Reads: export_files, all_flows, all_loss_reports.
-- Parameters: $cluster.
WITH files AS (
    SELECT
        export_file_id, export, node AS path_node, content_hash, landing_date,
        accepted_count + duplicate_count AS told_count,
        first_event_at, last_event_at,
        TRY_STRPTIME(
            REGEXP_EXTRACT(
                path, '-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3})\.[^/]*$', 1
            ),
            '%Y-%m-%dT%H-%M-%S.%g'
        ) AS rotated_at
    FROM export_files
    WHERE format = 'hubble' AND cluster = $cluster
),

-- One content may stand under several paths: as the current file and, later, as the rotated one,
-- in two exports, on two landing days. Which of them was read must not matter.
contents AS (
    SELECT
        content_hash, path_node,
        MAX(rotated_at) AS rotated_at,
        MIN(landing_date) AS landing_date,
        MIN(export) AS first_export
    FROM files
    GROUP BY content_hash, path_node
),

deliverers AS (
    SELECT DISTINCT content_hash, path_node, export FROM files
),

told AS (
    SELECT record_id, export_file_id, node, event_at, is_masked
    FROM all_flows
    WHERE cluster = $cluster
    UNION ALL
    SELECT record_id, export_file_id, node, event_at, FALSE AS is_masked
    FROM all_loss_reports
    WHERE cluster = $cluster AND source = 'flows'
),

-- A masked record counts with the file that begins first of those that hold it; in a file of which
-- no record has a time every record is masked, whatever it is.
masked AS (
    SELECT
        t.export_file_id,
        COALESCE(t.node, f.path_node) AS node,
        ROW_NUMBER() OVER (
            PARTITION BY t.record_id
            ORDER BY f.first_event_at NULLS LAST, f.last_event_at, f.content_hash, f.path_node
        ) AS place
    FROM told AS t
    INNER JOIN files AS f ON t.export_file_id = f.export_file_id
    WHERE t.is_masked OR f.first_event_at IS NULL
),

masked_counts AS (
    SELECT
        export_file_id, node,
        COUNT(*) FILTER (WHERE place = 1) AS masked_count,
        COUNT(*) FILTER (WHERE place > 1) AS counted_elsewhere
    FROM masked
    GROUP BY export_file_id, node
),

nodes_named AS (
    SELECT
        export_file_id, node,
        MIN(event_at) AS first_event_at,
        MAX(event_at) AS last_event_at
    FROM told
    GROUP BY export_file_id, node
),

per_node AS (
    SELECT
        f.export_file_id,
        COALESCE(n.node, f.path_node) AS node,
        MIN(n.first_event_at) AS first_event_at,
        MAX(n.last_event_at) AS last_event_at
    FROM files AS f
    LEFT JOIN nodes_named AS n ON f.export_file_id = n.export_file_id
    GROUP BY f.export_file_id, COALESCE(n.node, f.path_node)
),

counted AS (
    SELECT *, COUNT(node) OVER (PARTITION BY export_file_id) AS node_count FROM per_node
)

SELECT
    c.export_file_id,
    d.export,
    c.node,
    r.landing_date,
    epoch_us(
        CASE WHEN c.node_count = 1 THEN f.first_event_at ELSE c.first_event_at END
    ) AS first_us,
    epoch_us(CASE WHEN c.node_count = 1 THEN f.last_event_at ELSE c.last_event_at END) AS last_us,
    epoch_us(r.rotated_at) AS rotated_us,
    CASE
        WHEN d.export <> r.first_export THEN 0
        WHEN f.first_event_at IS NULL
            THEN GREATEST(
                COALESCE(m.masked_count, 0), f.told_count - COALESCE(m.counted_elsewhere, 0)
            )
        ELSE COALESCE(m.masked_count, 0)
    END AS masked_count
FROM counted AS c
INNER JOIN files AS f ON c.export_file_id = f.export_file_id
INNER JOIN contents AS r
    ON f.content_hash = r.content_hash AND f.path_node IS NOT DISTINCT FROM r.path_node
INNER JOIN deliverers AS d
    ON f.content_hash = d.content_hash AND f.path_node IS NOT DISTINCT FROM d.path_node
LEFT JOIN masked_counts AS m ON c.export_file_id = m.export_file_id AND c.node = m.node
WHERE c.node IS NOT NULL
