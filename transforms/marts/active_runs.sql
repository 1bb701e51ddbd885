-- Runs active on the day, and where each stands at its end. A run is active that has a pod that
-- day, a condition or an object transfer of that day, or that has been created and has not ended
-- before it.
-- Grain: one run.
-- Reads: pod_intervals, object_transfers, run_statuses, run_versions_merged, run_conditions.
-- Parameters: $date, $day_start, $day_end.
WITH with_pods AS (
    SELECT DISTINCT run_uuid
    FROM pod_intervals
    WHERE run_uuid IS NOT NULL AND date = CAST($date AS DATE)
),

told AS (
    SELECT DISTINCT run_uuid
    FROM run_statuses
    WHERE
        event_at >= CAST($day_start AS TIMESTAMPTZ) AND event_at < CAST($day_end AS TIMESTAMPTZ)
),

-- What a run asked of storage may be logged after its pods are gone.
with_transfers AS (
    SELECT DISTINCT run_uuid
    FROM object_transfers
    WHERE run_uuid IS NOT NULL AND date = CAST($date AS DATE)
),

known AS (
    SELECT run_uuid FROM with_pods
    UNION
    SELECT run_uuid FROM with_transfers
    UNION
    SELECT run_uuid FROM run_versions_merged
    UNION
    SELECT run_uuid FROM run_conditions
),

-- The later word of conditions and versions; of two at one time the condition's.
placed AS (
    SELECT
        k.run_uuid,
        COALESCE(v.created_at, c.first_at, v.first_observed_at) AS created_at,
        v.created_at AS stated_created_at,
        CASE
            WHEN c.status IS NOT NULL AND (v.status IS NULL OR c.event_at >= v.status_at)
                THEN c.status
            WHEN v.status IS NOT NULL THEN v.status
            ELSE v.later_status
        END AS status,
        CASE
            WHEN c.status IS NOT NULL AND (v.status IS NULL OR c.event_at >= v.status_at)
                THEN c.event_at
            WHEN v.status IS NOT NULL THEN COALESCE(v.finished_at, v.status_at)
            ELSE v.later_finished_at
        END AS status_at,
        p.run_uuid IS NOT NULL AS has_pods,
        t.run_uuid IS NOT NULL AS has_conditions,
        x.run_uuid IS NOT NULL AS has_transfers
    FROM known AS k
    LEFT JOIN run_versions_merged AS v ON k.run_uuid = v.run_uuid
    LEFT JOIN run_conditions AS c ON k.run_uuid = c.run_uuid
    LEFT JOIN with_pods AS p ON k.run_uuid = p.run_uuid
    LEFT JOIN told AS t ON k.run_uuid = t.run_uuid
    LEFT JOIN with_transfers AS x ON k.run_uuid = x.run_uuid
),

judged AS (
    SELECT
        *,
        COALESCE(
            status IN ('succeeded', 'failed', 'upstream_failed', 'stopped', 'skipped', 'done'),
            FALSE
        ) AS is_done
    FROM placed
)

SELECT
    run_uuid,
    stated_created_at AS created_at,
    status,
    is_done,
    CASE
        WHEN status IN ('succeeded', 'failed', 'stopped', 'skipped') THEN status
        WHEN status = 'upstream_failed' THEN 'failed'
        WHEN
            status IN (
                'scheduled', 'starting', 'processing', 'running', 'warning', 'unschedulable',
                'retrying', 'stopping'
            )
            THEN 'running'
        ELSE 'unknown'
    END AS outcome
FROM judged
WHERE
    has_pods
    OR has_conditions
    OR has_transfers
    OR (
        created_at < CAST($day_end AS TIMESTAMPTZ)
        AND (NOT is_done OR status_at >= CAST($day_start AS TIMESTAMPTZ))
    )
