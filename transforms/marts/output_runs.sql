-- Runs of the day with the time in which their outputs are written: from their start to an hour
-- behind their end, at most to the end of the day.
-- Grain: one run.
-- Reads: active_runs, run_versions_merged, run_pods, run_versions, run_conditions.
-- Parameters: $day_end, $is_final.
WITH pods AS (
    SELECT
        run_uuid,
        MIN(epoch_us(created_at)) AS start_us,
        CASE WHEN COUNT(*) = COUNT(end_at) THEN MAX(epoch_us(end_at)) END AS end_us,
        COUNT(*) AS pod_count
    FROM run_pods
    GROUP BY run_uuid
),

stores AS (
    SELECT
        run_uuid,
        MAX(artifacts_store) AS store
    FROM run_versions
    WHERE artifacts_store IS NOT NULL
    GROUP BY run_uuid
),

placed AS (
    SELECT
        a.run_uuid,
        a.outcome,
        a.is_done,
        s.store,
        COALESCE(p.pod_count, 0) AS pod_count,
        COALESCE(
            LEAST(p.start_us, epoch_us(a.created_at)), p.start_us, epoch_us(a.created_at),
            epoch_us(v.first_observed_at), epoch_us(c.first_at)
        ) AS start_us,
        CASE
            WHEN a.is_done THEN COALESCE(
                GREATEST(p.end_us, epoch_us(v.finished_at)), p.end_us, epoch_us(v.finished_at),
                epoch_us(v.later_finished_at), epoch_us(c.event_at)
            )
        END AS end_us,
        a.is_done AND (p.run_uuid IS NULL OR p.end_us IS NOT NULL) AS is_over
    FROM active_runs AS a
    LEFT JOIN pods AS p ON a.run_uuid = p.run_uuid
    LEFT JOIN stores AS s ON a.run_uuid = s.run_uuid
    LEFT JOIN run_versions_merged AS v ON a.run_uuid = v.run_uuid
    LEFT JOIN run_conditions AS c ON a.run_uuid = c.run_uuid
)

SELECT
    run_uuid,
    outcome,
    store,
    pod_count,
    start_us,
    LEAST(
        COALESCE(end_us + 3600000000, epoch_us(CAST($day_end AS TIMESTAMPTZ))),
        epoch_us(CAST($day_end AS TIMESTAMPTZ))
    ) AS until_us,
    is_over AND CAST($is_final AS BOOLEAN) AS is_final
FROM placed
