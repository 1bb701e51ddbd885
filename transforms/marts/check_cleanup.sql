-- Step 6: whether resources are gone while artifacts remain.
-- Grain: one run.
-- Reads: active_runs, runs, run_versions, run_statuses, run_outputs, run_pods.
-- Parameters: $date, $day_end.
WITH ends AS (
    SELECT run_uuid, MAX(ended_us) AS ended_us
    FROM (
        SELECT run_uuid, epoch_us(finished_at) AS ended_us
        FROM run_versions
        WHERE finished_at < CAST($day_end AS TIMESTAMPTZ)
        UNION ALL
        SELECT run_uuid, epoch_us(event_at) AS ended_us
        FROM run_statuses
        WHERE
            status IN ('succeeded', 'failed', 'upstream_failed', 'stopped', 'skipped', 'done')
            AND event_at < CAST($day_end AS TIMESTAMPTZ)
    )
    GROUP BY run_uuid
),

outcomes AS (
    SELECT run_uuid, MIN(outcome) AS outcome
    FROM runs
    WHERE date = CAST($date AS DATE)
    GROUP BY run_uuid
),

-- A pod that no source shows to have ended may be gone since it was last seen.
pods AS (
    SELECT
        run_uuid,
        BOOL_OR(end_at IS NULL) AS is_open,
        BOOL_OR(end_at IS NOT NULL AND is_end_assumed) AS is_assumed,
        MAX(epoch_us(last_seen_at)) FILTER (WHERE end_at IS NULL OR is_end_assumed) AS seen_us,
        MIN(evidence_id, 5) AS evidence_ids
    FROM run_pods
    GROUP BY run_uuid
),

outputs AS (
    SELECT
        run_uuid,
        BOOL_OR(object_count > 0 AND remaining_object_count = 0 OR reason LIKE 'the run deleted%')
            AS is_lost,
        BOOL_OR(remaining_object_count > 0) AS remains,
        MIN(run_output_id, 5) AS output_ids
    FROM run_outputs
    WHERE date = CAST($date AS DATE)
    GROUP BY run_uuid
),

judged AS (
    SELECT
        r.run_uuid,
        CASE
            WHEN u.outcome NOT IN ('succeeded', 'failed', 'stopped') THEN NULL
            WHEN p.seen_us - e.ended_us > 3600000000
                THEN 'a pod of it was still there an hour after its end'
            WHEN o.is_lost THEN 'an output that it wrote was deleted'
        END AS wrong,
        CASE
            WHEN COALESCE(u.outcome, 'unknown') NOT IN ('succeeded', 'failed', 'stopped')
                THEN 'it has not ended'
            WHEN p.run_uuid IS NULL THEN 'no pod of it was seen'
            WHEN
                p.is_open
                AND epoch_us(CAST($day_end AS TIMESTAMPTZ)) - e.ended_us <= 3600000000
                THEN 'it ended just before the end of the day'
            WHEN p.is_open OR p.is_assumed THEN 'no source shows the end of a pod'
            WHEN NOT COALESCE(o.remains, FALSE) THEN 'no artifact of it was seen'
        END AS unknown,
        LIST_CONCAT(COALESCE(p.evidence_ids, []), COALESCE(o.output_ids, [])) AS evidence_ids
    FROM active_runs AS r
    LEFT JOIN outcomes AS u ON r.run_uuid = u.run_uuid
    LEFT JOIN ends AS e ON r.run_uuid = e.run_uuid
    LEFT JOIN pods AS p ON r.run_uuid = p.run_uuid
    LEFT JOIN outputs AS o ON r.run_uuid = o.run_uuid
)

SELECT
    run_uuid,
    CASE
        WHEN wrong IS NOT NULL THEN 'failed' WHEN unknown IS NOT NULL THEN 'not_observable'
        ELSE 'passed'
    END AS result,
    COALESCE(wrong, unknown, 'all its pods are gone, and what it wrote stands') AS sentence,
    ['pod_intervals', 'run_outputs', 'run_statuses'] AS sources,
    evidence_ids
FROM judged
