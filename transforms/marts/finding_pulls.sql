-- Images of runs whose pull failed, or took long.
-- Grain: one run and image.
-- Reads: image_pulls (all days), active_runs, finding_lost, finding_storms.
-- Parameters: $date, $least_wait_us.
WITH failed AS (
    SELECT
        p.*,
        image_resource(p.image, p.registry, p.image_digest) AS resource_id,
        REPLACE(
            REGEXP_REPLACE(LOWER(p.error), 'https?://[^\s"]+', '', 'g'), LOWER(p.image), ''
        ) AS said
    FROM image_pulls AS p
    INNER JOIN active_runs AS r ON p.run_uuid = r.run_uuid
    WHERE p.date <= CAST($date AS DATE) AND p.error IS NOT NULL
),

errors AS (
    SELECT
        run_uuid,
        resource_id,
        MIN(cluster) AS cluster,
        pull_error_class(ARG_MIN(said, {'us': epoch_us(start_at), 'id': image_pull_id}))
            AS error_class,
        ARG_MIN(error, {'us': epoch_us(start_at), 'id': image_pull_id}) AS error,
        SUM(error_count) AS error_count,
        MIN(start_at) AS first_at,
        MAX(COALESCE(end_at, start_at)) AS last_at,
        MIN(image_pull_id, 10) AS ids
    FROM failed
    GROUP BY run_uuid, resource_id
),

lost AS (
    SELECT * FROM finding_lost WHERE cause = 'image_pull'
),

-- A pull that never ended names no digest, its wait may.
met AS (
    SELECT
        COALESCE(e.run_uuid, l.run_uuid) AS run_uuid,
        COALESCE(e.resource_id, l.resource_id) AS resource_id,
        e.cluster, e.error_class, e.error, e.error_count, e.ids,
        COALESCE(e.first_at, l.first_at) AS first_at,
        COALESCE(e.last_at, l.last_at) AS last_at,
        l.lost_us, l.lost_gpu_us, l.part_count, l.wait_ids
    FROM errors AS e
    FULL OUTER JOIN lost AS l ON e.run_uuid = l.run_uuid AND e.resource_id = l.resource_id
)

SELECT
    CASE WHEN m.error IS NULL THEN 'slow_pull' ELSE 'pull_failure' END AS kind,
    'image_pull' AS activity,
    m.error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    COALESCE(m.cluster, r.cluster) AS cluster,
    m.run_uuid,
    m.resource_id,
    CAST(NULL AS VARCHAR) AS subject,
    CASE
        WHEN m.error IS NULL THEN 'its pull kept containers waiting'
        ELSE 'its pull failed: ' || m.error
    END AS detail,
    m.first_at,
    m.last_at,
    GREATEST(COALESCE(m.error_count, m.part_count, 1), 1) AS occurrence_count,
    CASE WHEN s.has_storm THEN 0 ELSE COALESCE(m.lost_us, 0) END AS lost_us,
    CASE WHEN s.has_storm OR m.lost_us IS NULL THEN 0 ELSE m.lost_gpu_us END AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    CASE
        WHEN m.ids IS NULL THEN ['waits']
        WHEN m.wait_ids IS NULL THEN ['image_pulls']
        ELSE ['image_pulls', 'waits']
    END AS sources,
    LIST_CONCAT(COALESCE(m.ids, []), COALESCE(m.wait_ids, [])) AS evidence_ids
FROM met AS m
INNER JOIN active_runs AS r ON m.run_uuid = r.run_uuid
LEFT JOIN (
    SELECT run_uuid, resource_id, SUM(lost_us) > 0 AS has_storm
    FROM finding_storms
    WHERE activity = 'image_pull' AND run_uuid IS NOT NULL
    GROUP BY run_uuid, resource_id
) AS s ON m.run_uuid = s.run_uuid AND m.resource_id = s.resource_id
WHERE m.error IS NOT NULL OR m.lost_us >= CAST($least_wait_us AS BIGINT)
