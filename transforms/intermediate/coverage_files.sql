-- Hubble files of each node: from which to which event each goes, and when it was rotated.
-- A file whose rows name one node goes from the first to the last of all its events, repeated ones
-- too; one that names several goes per node from its own rows.
-- Grain: one file and node.
-- Reads: export_files, flows, loss_reports.
-- Parameters: $cluster.
WITH files AS (
    SELECT
        export_file_id, export, node AS path_node, content_hash, landing_date,
        -- Which file is credited with a repeated record must not matter.
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

-- One content may stand under two paths: as the current file and, later, as the rotated one.
rotations AS (
    SELECT content_hash, MAX(rotated_at) AS rotated_at
    FROM files
    GROUP BY content_hash
),

nodes_named AS (
    SELECT
        export_file_id, node,
        MIN(event_at) AS first_event_at,
        MAX(event_at) AS last_event_at,
        COUNT(*) FILTER (WHERE is_masked) AS masked_count
    FROM flows
    WHERE cluster = $cluster
    GROUP BY export_file_id, node
    UNION ALL
    SELECT
        export_file_id, node, MIN(event_at) AS first_event_at, MAX(event_at) AS last_event_at,
        0 AS masked_count
    FROM loss_reports
    WHERE cluster = $cluster AND source = 'flows'
    GROUP BY export_file_id, node
),

per_node AS (
    SELECT
        f.export_file_id,
        COALESCE(n.node, f.path_node) AS node,
        MIN(n.first_event_at) AS first_event_at,
        MAX(n.last_event_at) AS last_event_at,
        SUM(COALESCE(n.masked_count, 0)) AS masked_count
    FROM files AS f
    LEFT JOIN nodes_named AS n ON f.export_file_id = n.export_file_id
    GROUP BY f.export_file_id, COALESCE(n.node, f.path_node)
),

counted AS (
    SELECT *, COUNT(node) OVER (PARTITION BY export_file_id) AS node_count FROM per_node
)

SELECT
    c.export_file_id,
    f.export,
    c.node,
    f.landing_date,
    epoch_us(
        CASE WHEN c.node_count = 1 THEN f.first_event_at ELSE c.first_event_at END
    ) AS first_us,
    epoch_us(CASE WHEN c.node_count = 1 THEN f.last_event_at ELSE c.last_event_at END) AS last_us,
    epoch_us(r.rotated_at) AS rotated_us,
    -- A file of which no record has a time shows nothing, whatever its records are.
    CASE
        WHEN f.first_event_at IS NULL THEN GREATEST(c.masked_count, f.told_count)
        ELSE c.masked_count
    END AS masked_count
FROM counted AS c
INNER JOIN files AS f ON c.export_file_id = f.export_file_id
INNER JOIN rotations AS r ON f.content_hash = r.content_hash
WHERE c.node IS NOT NULL
