-- Reads of what only other projects declare, and principals that no declared access of the project
-- shows.
-- Grain: one run and resource, or one run and principal.
-- Reads: run_dependencies (all days), object_transfers (all days), active_runs.
-- Parameters: $date.
WITH declared AS (
    SELECT DISTINCT project, resource_id
    FROM run_dependencies
    WHERE
        declaration <> 'seen_not_declared'
        AND project IS NOT NULL
        AND date <= CAST($date AS DATE)
        AND REGEXP_MATCHES(resource_id, '^(s3|gs|az)://')
),

-- The run itself may have no project; then nobody can say that data is another's.
reads AS (
    SELECT
        d.run_uuid, d.project, d.resource_id,
        MIN(d.first_seen_at) AS first_at,
        MAX(d.last_seen_at) AS last_at,
        SUM(d.request_count) AS request_count,
        MIN(d.run_dependency_id, 10) AS ids
    FROM run_dependencies AS d
    WHERE
        d.date = CAST($date AS DATE)
        AND d.operation = 'read'
        AND d.declaration = 'seen_not_declared'
        AND d.project IS NOT NULL
        AND d.request_count
            > d.denied_count + d.throttled_count + d.not_found_count + d.error_count
    GROUP BY d.run_uuid, d.project, d.resource_id
),

others AS (
    SELECT
        r.*,
        LIST_SORT(LIST(DISTINCT o.project)) AS projects
    FROM reads AS r
    INNER JOIN declared AS o ON r.resource_id = o.resource_id AND r.project <> o.project
    WHERE NOT EXISTS (
        SELECT 1 FROM declared AS own
        WHERE own.project = r.project AND own.resource_id = r.resource_id
    )
    GROUP BY ALL
),

asked AS (
    SELECT
        t.run_uuid, d.project,
        -- Each run assumes a role under a name of its own.
        REGEXP_REPLACE(t.principal, '(:assumed-role/[^/]+)/.*$', '\1') AS principal,
        BOOL_OR(d.is_declared) AS is_declared,
        MIN(t.start_at) AS first_at,
        MAX(t.end_at) AS last_at,
        SUM(t.request_count) AS request_count,
        MIN(t.resource_id) AS resource_id,
        MIN(t.transfer_id, 10) AS ids
    FROM object_transfers AS t
    INNER JOIN (
        SELECT
            run_uuid, resource_id, MIN(project) AS project,
            BOOL_OR(declaration <> 'seen_not_declared') AS is_declared
        FROM run_dependencies
        WHERE date <= CAST($date AS DATE) AND project IS NOT NULL
        GROUP BY run_uuid, resource_id
    ) AS d ON t.run_uuid = d.run_uuid AND t.resource_id = d.resource_id
    WHERE t.principal IS NOT NULL AND t.date <= CAST($date AS DATE)
    GROUP BY
        t.run_uuid, d.project,
        REGEXP_REPLACE(t.principal, '(:assumed-role/[^/]+)/.*$', '\1')
),

-- Without a declared access of the project nothing says which principals are its own.
known AS (
    SELECT project, LIST(DISTINCT principal) AS principals
    FROM asked
    WHERE is_declared
    GROUP BY project
)

SELECT
    'cross_project_read' AS kind,
    'cross_project_read' AS activity,
    CAST(NULL AS VARCHAR) AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    r.cluster,
    o.run_uuid,
    o.resource_id,
    CAST(NULL AS VARCHAR) AS subject,
    'project ' || o.project || ' read what only ' || ARRAY_TO_STRING(o.projects, ', ') || ' declares'
        AS detail,
    o.first_at,
    o.last_at,
    o.request_count AS occurrence_count,
    0 AS lost_us,
    0 AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    ['run_dependencies'] AS sources,
    o.ids AS evidence_ids
FROM others AS o
INNER JOIN active_runs AS r ON o.run_uuid = r.run_uuid
UNION ALL
SELECT
    'undeclared_principal' AS kind,
    'principal' AS activity,
    NULL AS error_class,
    NULL AS remedy,
    r.cluster,
    a.run_uuid,
    a.resource_id,
    a.principal AS subject,
    a.principal || ' asked for the run, and for nothing that its project declares' AS detail,
    a.first_at,
    a.last_at,
    a.request_count AS occurrence_count,
    0 AS lost_us,
    0 AS lost_gpu_us,
    NULL AS min_usd,
    NULL AS max_usd,
    ['object_transfers', 'run_dependencies'] AS sources,
    a.ids AS evidence_ids
FROM asked AS a
INNER JOIN active_runs AS r ON a.run_uuid = r.run_uuid
INNER JOIN known AS k ON a.project = k.project
WHERE NOT LIST_CONTAINS(k.principals, a.principal)
