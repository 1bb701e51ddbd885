-- What runs were denied: by storage (401, 403), or by a network policy.
-- Grain: one run, kind and resource.
-- Reads: run_dependencies, active_runs, finding_lost, finding_storms.
-- Parameters: $date.
WITH denied AS (
    SELECT
        d.run_uuid,
        CASE WHEN d.operation IN ('read', 'write', 'list', 'head', 'delete', 'copy', 'other')
            THEN 'denied_storage' ELSE 'denied_network' END AS kind,
        d.resource_id,
        SUM(d.denied_count) AS denied_count,
        MIN(d.first_error) AS error,
        MIN(d.first_seen_at) AS first_at,
        MAX(d.last_seen_at) AS last_at,
        MIN(d.run_dependency_id, 10) AS ids
    FROM run_dependencies AS d
    WHERE
        d.date = CAST($date AS DATE)
        AND d.denied_count > 0
        AND d.operation IN (
            'read', 'write', 'list', 'head', 'delete', 'copy', 'other', 'connect'
        )
    GROUP BY d.run_uuid, kind, d.resource_id
),

lost AS (
    SELECT
        run_uuid, resource_id,
        SUM(lost_us) AS lost_us,
        CASE WHEN COUNT(*) = COUNT(lost_gpu_us) THEN SUM(lost_gpu_us) END AS lost_gpu_us
    FROM finding_lost
    WHERE cause IN ('denied', 'authenticate')
    GROUP BY run_uuid, resource_id
),

-- What a storm of denials lost stands with the storm.
storms AS (
    SELECT
        run_uuid, resource_id,
        SUM(lost_us) AS lost_us,
        CASE WHEN COUNT(*) = COUNT(lost_gpu_us) THEN SUM(lost_gpu_us) END AS lost_gpu_us
    FROM finding_storms
    WHERE error_class IN ('forbidden', 'credentials', 'policy_drop') AND run_uuid IS NOT NULL
    GROUP BY run_uuid, resource_id
)

SELECT
    d.kind,
    CASE d.kind WHEN 'denied_storage' THEN 'object_access' ELSE 'connect' END AS activity,
    CASE
        WHEN d.kind = 'denied_network' THEN 'policy_drop'
        WHEN is_refused_credential(d.error) THEN 'credentials'
        ELSE 'forbidden'
    END AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    r.cluster,
    d.run_uuid,
    d.resource_id,
    CAST(NULL AS VARCHAR) AS subject,
    'denied ' || CAST(d.denied_count AS VARCHAR) || ' times' || COALESCE(': ' || d.error, '')
        AS detail,
    d.first_at,
    d.last_at,
    d.denied_count AS occurrence_count,
    GREATEST(0, COALESCE(l.lost_us, 0) - COALESCE(s.lost_us, 0)) AS lost_us,
    CASE
        WHEN l.run_uuid IS NULL OR l.lost_us <= s.lost_us THEN 0
        WHEN s.run_uuid IS NULL THEN l.lost_gpu_us
        WHEN l.lost_gpu_us IS NOT NULL AND s.lost_gpu_us IS NOT NULL
            THEN GREATEST(0, l.lost_gpu_us - s.lost_gpu_us)
    END AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    ['run_dependencies'] AS sources,
    d.ids AS evidence_ids
FROM denied AS d
INNER JOIN active_runs AS r ON d.run_uuid = r.run_uuid
LEFT JOIN lost AS l ON d.run_uuid = l.run_uuid AND d.resource_id = l.resource_id
LEFT JOIN storms AS s ON d.run_uuid = s.run_uuid AND d.resource_id = s.resource_id
