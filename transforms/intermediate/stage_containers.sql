-- Containers of the day's pods: role, place and whether they are done.
-- Grain: one container.
-- Reads: container_states, stage_pods, stage_events.
-- Parameters: $cluster, $day_end.
WITH stated AS (
    SELECT
        pod_uid, container,
        MIN(container_role) AS container_role,
        MIN(ordinal) AS ordinal,
        MIN(image) AS image,
        ARG_MAX(
            state,
            {'at': observed_at, 'count': COALESCE(restart_count, 0), 'state': state}
        ) AS state,
        ARG_MAX(
            reason,
            {
                'at': observed_at, 'count': COALESCE(restart_count, 0), 'reason': reason,
                'message': message
            }
        ) FILTER (
            WHERE
                state = 'waiting' AND reason IS NOT NULL
                AND observed_at <= CAST($day_end AS TIMESTAMPTZ)
        ) AS waiting_reason,
        ARG_MAX(
            message,
            {
                'at': observed_at, 'count': COALESCE(restart_count, 0), 'reason': reason,
                'message': message
            }
        ) FILTER (
            WHERE
                state = 'waiting' AND message IS NOT NULL
                AND observed_at <= CAST($day_end AS TIMESTAMPTZ)
        ) AS waiting_message
    FROM container_states
    WHERE cluster = $cluster AND pod_uid IN (SELECT pod_uid FROM stage_pods)
    GROUP BY pod_uid, container
),

told AS (
    SELECT pod_uid, container, CASE WHEN BOOL_OR(is_init) THEN 'init' ELSE 'main' END AS role
    FROM stage_events
    WHERE container IS NOT NULL
    GROUP BY pod_uid, container
)

SELECT
    COALESCE(s.pod_uid, t.pod_uid) AS pod_uid,
    COALESCE(s.container, t.container) AS container,
    COALESCE(s.container_role, t.role) AS container_role,
    COALESCE(s.ordinal, 0) AS ordinal,
    s.image,
    s.state,
    s.waiting_reason,
    s.waiting_message
FROM stated AS s
FULL JOIN told AS t ON s.pod_uid = t.pod_uid AND s.container = t.container
