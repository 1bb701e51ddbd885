-- Pods of the day with the times of their life that states prove.
-- `end_us` is a proven end, after the day too; `limit_us` the end that is only assumed.
-- `alive_us` is the last sign of life in a state.
-- Grain: one pod.
-- Reads: pod_intervals, pod_states, run_versions.
-- Parameters: $cluster, $date, $day_end.
WITH day_pods AS (
    SELECT
        pod_uid, namespace, pod_name, node, run_uuid, attempt, run_component, created_at,
        end_at, end_basis, date
    FROM pod_intervals
    WHERE cluster = $cluster AND date = CAST($date AS DATE)
),

pods AS (
    SELECT
        pod_uid,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MIN(node) AS node,
        MIN(run_uuid) AS run_uuid,
        MIN(attempt) AS attempt,
        COALESCE(BOOL_OR(run_component = 'polyaxon-services'), FALSE) AS is_service,
        epoch_us(MIN(created_at)) AS created_us,
        CASE WHEN COUNT(*) = COUNT(end_at) THEN epoch_us(MAX(end_at)) END AS ended_us,
        ARG_MAX(end_basis, {'at': end_at, 'basis': end_basis}) FILTER (WHERE end_at IS NOT NULL)
            AS ended_basis
    FROM day_pods
    GROUP BY pod_uid
),

conditions AS (
    SELECT
        pod_uid, observed_at,
        UNNEST(conditions) AS condition
    FROM pod_states
    WHERE cluster = $cluster AND pod_uid IN (SELECT pod_uid FROM pods)
),

waiting AS (
    SELECT
        pod_uid,
        epoch_us(
            MAX(observed_at) FILTER (WHERE condition.reason = 'SchedulingGated')
        ) AS gated_us,
        epoch_us(
            MAX(observed_at) FILTER (WHERE condition.reason = 'Unschedulable')
        ) AS unschedulable_us,
        ARG_MIN(
            condition.message, {'at': observed_at, 'message': condition.message}
        ) FILTER (
            WHERE
                condition.reason = 'Unschedulable'
                AND observed_at <= CAST($day_end AS TIMESTAMPTZ)
        ) AS unschedulable_message
    FROM conditions
    WHERE condition.type = 'PodScheduled' AND condition.status = 'False'
    GROUP BY pod_uid
),

states AS (
    SELECT
        pod_uid,
        epoch_us(MIN(scheduled_at)) AS scheduled_us,
        epoch_us(MIN(start_time_at)) AS start_time_us,
        epoch_us(MIN(sandbox_ready_at)) AS ready_us,
        epoch_us(MAX(sandbox_ended_at)) AS torn_down_us,
        epoch_us(MAX(last_finished_at)) AS finished_us,
        epoch_us(
            MAX(GREATEST(observed_at, created_at, scheduled_at, start_time_at, sandbox_ready_at))
                FILTER (
                    WHERE NOT is_deleted AND COALESCE(phase NOT IN ('Succeeded', 'Failed'), TRUE)
                )
        ) AS seen_us,
        epoch_us(MAX(observed_at) FILTER (WHERE is_deleted AND observed_basis = 'record'))
            AS deleted_us
    FROM pod_states
    WHERE cluster = $cluster AND pod_uid IN (SELECT pod_uid FROM pods)
    GROUP BY pod_uid
),

services AS (
    SELECT DISTINCT run_uuid FROM run_versions WHERE kind = 'service'
)

SELECT
    p.pod_uid, p.namespace, p.pod_name, p.node, p.run_uuid, p.attempt, p.created_us,
    p.is_service OR v.run_uuid IS NOT NULL AS is_interactive,
    CASE
        WHEN p.ended_basis NOT IN ('last_seen', 'address_reused') THEN p.ended_us
    END AS end_us,
    CASE
        WHEN p.ended_us IS NULL OR p.ended_basis IN ('last_seen', 'address_reused') THEN NULL
        WHEN p.ended_basis = 'sandbox_teardown' THEN 'condition'
        WHEN p.ended_basis = 'finished' THEN 'terminated'
        WHEN p.ended_basis = 'deleted' THEN 'deletion'
        ELSE 'event'
    END AS end_basis,
    CASE WHEN p.ended_basis IN ('last_seen', 'address_reused') THEN p.ended_us END AS limit_us,
    -- GREATEST leaves nulls out.
    GREATEST(p.created_us, s.seen_us, s.torn_down_us, s.finished_us, s.deleted_us) AS alive_us,
    CASE WHEN s.scheduled_us IS NOT NULL THEN GREATEST(s.scheduled_us, p.created_us) END
        AS scheduled_us,
    s.start_time_us, s.ready_us, w.gated_us, w.unschedulable_us,
    w.unschedulable_message
FROM pods AS p
LEFT JOIN states AS s ON p.pod_uid = s.pod_uid
LEFT JOIN waiting AS w ON p.pod_uid = w.pod_uid
LEFT JOIN services AS v ON p.run_uuid = v.run_uuid
