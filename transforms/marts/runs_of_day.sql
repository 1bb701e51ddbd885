-- Runs that `runs` has on the day, with what is the same on all their attempts.
-- Grain: one run.
-- Reads: runs.
-- Parameters: $date.
SELECT
    run_uuid,
    MIN(cluster) AS cluster,
    MAX(project) AS project,
    BOOL_AND(is_final) AS is_final
FROM runs
WHERE date = CAST($date AS DATE)
GROUP BY run_uuid
