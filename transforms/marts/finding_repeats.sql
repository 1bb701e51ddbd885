-- What was fetched again and need not have been. Scopes nest: the widest holds all repeats once.
-- Grain: one run (or none), resource and remedy.
-- Reads: repeat_transfers (all days), active_runs.
-- Parameters: $date.
SELECT
    'repeat_transfer' AS kind,
    'repeat' AS activity,
    t.remedy AS error_class,
    t.remedy,
    t.cluster,
    t.run_uuid,
    t.resource_id,
    t.remedy AS subject,
    CAST(COUNT(*) AS VARCHAR) || ' fetches repeat earlier ones, '
    || CAST(SUM(t.min_repeat_bytes) AS VARCHAR) || ' bytes at least' AS detail,
    MIN(t.start_at) AS first_at,
    MAX(t.start_at) AS last_at,
    COUNT(*) AS occurrence_count,
    0 AS lost_us,
    0 AS lost_gpu_us,
    SUM(CAST(t.min_avoidable_usd AS DECIMAL(38, 9))) AS min_usd,
    CASE
        WHEN COUNT(*) = COUNT(t.max_avoidable_usd)
            THEN SUM(CAST(t.max_avoidable_usd AS DECIMAL(38, 9)))
    END AS max_usd,
    ['repeat_transfers'] AS sources,
    MIN(t.repeat_transfer_id, 10) AS evidence_ids
FROM repeat_transfers AS t
WHERE
    t.scope = 'fleet'
    AND t.remedy IS NOT NULL
    AND COALESCE(t.max_repeat_bytes > 0, TRUE)
    AND t.date <= CAST($date AS DATE)
    AND (
        t.run_uuid IN (SELECT run_uuid FROM active_runs)
        OR (t.run_uuid IS NULL AND t.date = CAST($date AS DATE))
    )
GROUP BY t.cluster, t.run_uuid, t.resource_id, t.remedy
