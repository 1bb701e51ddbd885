-- Pods of the day with what events and marks add to their life.
-- Grain: one pod.
-- Reads: stage_pods, stage_events, stage_mark_points, run_statuses.
WITH events AS (
    SELECT
        pod_uid,
        MIN(first_us) FILTER (WHERE kind = 'scheduled') AS scheduled_us,
        MIN(first_us) FILTER (WHERE kind = 'unschedulable') AS unschedulable_from_us,
        MAX(last_us) FILTER (WHERE kind = 'unschedulable') AS unschedulable_us,
        ARG_MIN(message, {'us': first_us, 'message': message})
            FILTER (WHERE kind = 'unschedulable' AND event_count > 0) AS unschedulable_message,
        CAST(SUM(event_count) FILTER (WHERE kind = 'unschedulable') AS BIGINT)
            AS unschedulable_count,
        MAX(last_us) FILTER (WHERE kind IN ('unmounted', 'attached')) AS mounting_us,
        ARG_MIN(reason, {'us': first_us, 'message': message, 'reason': reason})
            FILTER (WHERE kind = 'unmounted' AND event_count > 0) AS mounting_reason,
        ARG_MIN(message, {'us': first_us, 'message': message})
            FILTER (WHERE kind = 'unmounted' AND event_count > 0) AS mounting_message,
        CAST(SUM(event_count) FILTER (WHERE kind = 'unmounted') AS BIGINT) AS mounting_count,
        MIN(first_us) FILTER (WHERE kind = 'no_sandbox') AS sandbox_from_us,
        MAX(last_us) FILTER (WHERE kind = 'no_sandbox') AS sandbox_us,
        ARG_MIN(reason, {'us': first_us, 'message': message, 'reason': reason})
            FILTER (WHERE kind = 'no_sandbox' AND event_count > 0) AS sandbox_reason,
        ARG_MIN(message, {'us': first_us, 'message': message})
            FILTER (WHERE kind = 'no_sandbox' AND event_count > 0) AS sandbox_message,
        CAST(SUM(event_count) FILTER (WHERE kind = 'no_sandbox') AS BIGINT) AS sandbox_count,
        -- An event that another component writes about a pod that is gone is no sign of life.
        MAX(last_us) FILTER (WHERE kind NOT IN ('deleting', 'other')) AS alive_us
    FROM stage_events
    GROUP BY pod_uid
),

marks AS (
    SELECT pod_uid, MAX(mark_us) AS alive_us
    FROM stage_mark_points
    GROUP BY pod_uid
),

-- What Polyaxon says of the end counts for the last attempt's pods alone.
finished AS (
    SELECT run_uuid, epoch_us(MAX(event_at)) AS done_us
    FROM run_statuses
    WHERE status IN ('succeeded', 'failed', 'stopped', 'upstream_failed', 'skipped')
    GROUP BY run_uuid
),

last_attempts AS (
    SELECT run_uuid, MAX(attempt) AS attempt
    FROM stage_pods
    WHERE run_uuid IS NOT NULL
    GROUP BY run_uuid
)

SELECT
    p.* EXCLUDE (
        scheduled_us, alive_us, unschedulable_us, unschedulable_message
    ),
    COALESCE(
        p.scheduled_us,
        CASE WHEN e.scheduled_us IS NOT NULL THEN GREATEST(e.scheduled_us, p.created_us) END
    ) AS scheduled_us,
    CASE
        WHEN p.scheduled_us IS NOT NULL THEN 'condition'
        WHEN e.scheduled_us IS NOT NULL THEN 'event'
    END AS scheduled_basis,
    GREATEST(p.alive_us, e.alive_us, m.alive_us) AS alive_us,
    e.unschedulable_from_us,
    GREATEST(p.unschedulable_us, e.unschedulable_us) AS unschedulable_us,
    COALESCE(e.unschedulable_message, p.unschedulable_message) AS unschedulable_message,
    e.unschedulable_count,
    e.mounting_us, e.mounting_reason, e.mounting_message, e.mounting_count,
    e.sandbox_from_us, e.sandbox_us, e.sandbox_reason, e.sandbox_message, e.sandbox_count,
    CASE WHEN f.done_us >= p.created_us THEN f.done_us END AS done_us
FROM stage_pods AS p
LEFT JOIN events AS e ON p.pod_uid = e.pod_uid
LEFT JOIN marks AS m ON p.pod_uid = m.pod_uid
LEFT JOIN last_attempts AS l ON p.run_uuid = l.run_uuid AND p.attempt = l.attempt
LEFT JOIN finished AS f ON l.run_uuid = f.run_uuid
