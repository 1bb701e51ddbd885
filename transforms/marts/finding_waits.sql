-- Runs that waited long for a place or for their volumes.
-- Grain: one run and cause.
-- Reads: finding_lost, finding_storms, active_runs.
-- Parameters: $least_wait_us.
WITH summed AS (
    SELECT
        run_uuid,
        cause,
        SUM(lost_us) AS lost_us,
        CASE WHEN COUNT(*) = COUNT(lost_gpu_us) THEN SUM(lost_gpu_us) END AS lost_gpu_us,
        SUM(part_count) AS part_count,
        ARG_MIN(first_error, {'at': epoch_us(first_at), 'error': first_error})
            FILTER (WHERE first_error IS NOT NULL) AS first_error,
        MIN(first_at) AS first_at,
        MAX(last_at) AS last_at,
        FLATTEN(LIST(wait_ids)) AS wait_ids
    FROM finding_lost
    WHERE cause IN ('placement', 'volume')
    GROUP BY run_uuid, cause
),

-- What a storm of mounts lost stands with the storm.
storms AS (
    SELECT
        run_uuid, SUM(lost_us) AS lost_us,
        CASE WHEN COUNT(*) = COUNT(lost_gpu_us) THEN SUM(lost_gpu_us) END AS lost_gpu_us
    FROM finding_storms
    WHERE activity = 'volume_mount' AND run_uuid IS NOT NULL
    GROUP BY run_uuid
)

SELECT
    CASE w.cause WHEN 'placement' THEN 'placement_wait' ELSE 'volume_wait' END AS kind,
    CASE w.cause WHEN 'placement' THEN 'placement' ELSE 'volume_mount' END AS activity,
    CAST(NULL AS VARCHAR) AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    r.cluster,
    w.run_uuid,
    CAST(NULL AS VARCHAR) AS resource_id,
    CAST(NULL AS VARCHAR) AS subject,
    CASE w.cause
        WHEN 'placement' THEN 'it waited for a place' ELSE 'it waited for its volumes'
    END || COALESCE(': ' || w.first_error, '') AS detail,
    w.first_at,
    w.last_at,
    w.part_count AS occurrence_count,
    CASE WHEN w.cause = 'volume' THEN GREATEST(0, w.lost_us - COALESCE(s.lost_us, 0))
        ELSE w.lost_us END AS lost_us,
    CASE
        WHEN w.cause = 'placement' OR s.run_uuid IS NULL THEN w.lost_gpu_us
        WHEN w.lost_gpu_us IS NOT NULL AND s.lost_gpu_us IS NOT NULL
            THEN GREATEST(0, w.lost_gpu_us - s.lost_gpu_us)
    END AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    ['waits'] AS sources,
    w.wait_ids AS evidence_ids
FROM summed AS w
INNER JOIN active_runs AS r ON w.run_uuid = r.run_uuid
LEFT JOIN storms AS s ON w.run_uuid = s.run_uuid
WHERE w.lost_us >= CAST($least_wait_us AS BIGINT)
