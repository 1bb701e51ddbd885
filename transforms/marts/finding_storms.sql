-- Storms of runs over their lives, and of the day's pods of no run.
-- Grain: one storm.
-- Reads: storms (all days), active_runs.
-- Parameters: $date.
SELECT
    'retry_storm' AS kind,
    MIN(s.activity) AS activity,
    MIN(s.error_class) AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    MIN(s.cluster) AS cluster,
    MIN(s.run_uuid) AS run_uuid,
    MIN(s.resource_id) AS resource_id,
    s.storm_id AS subject,
    CAST(MAX(s.failure_count) AS VARCHAR) || ' failures (' || MIN(s.error_class) || '), '
    || REPLACE(ARG_MAX(s.retry_end, s.date), '_', ' ')
    || COALESCE('; first error: ' || MIN(s.first_error), '') AS detail,
    MIN(s.start_at) AS first_at,
    MAX(s.end_at) AS last_at,
    MAX(s.failure_count) AS occurrence_count,
    SUM(s.day_lost_us) AS lost_us,
    CASE WHEN COUNT(*) = COUNT(s.day_lost_gpu_us) THEN SUM(s.day_lost_gpu_us) END AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    ['storms'] AS sources,
    [s.storm_id] AS evidence_ids
FROM storms AS s
WHERE
    s.date <= CAST($date AS DATE)
    AND (
        s.run_uuid IN (SELECT run_uuid FROM active_runs)
        OR (s.run_uuid IS NULL AND s.date = CAST($date AS DATE))
    )
GROUP BY s.storm_id
