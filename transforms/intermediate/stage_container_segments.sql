-- Stages of containers, each as far as it is proven.
-- Grain: one stage of one container.
-- Reads: stage_containers, stage_chain, stage_pulls, stage_runs, stage_work, stage_lives.
WITH
-- Waiting for a turn that the turn before left open: nothing tells what the time went by.
turns AS (
    SELECT
        h.pod_uid, h.container, 0 AS seg_rank, 'unknown' AS stage,
        CAST(NULL AS VARCHAR) AS step,
        h.before_us AS start_us, h.before_basis AS start_basis,
        h.before_us AS end_us, h.before_basis AS end_basis
    FROM stage_chain AS h
    WHERE h.before_us IS NOT NULL AND (h.first_us IS NULL OR h.first_us - h.before_us > 1000000)
),

pulls AS (
    SELECT
        *,
        -- The last attempt, behind the failures.
        CASE
            WHEN failed_us IS NULL THEN start_us
            WHEN NOT is_pulled THEN end_us
            WHEN pulling_us IS NULL THEN NULL
            ELSE GREATEST(failed_us, end_us - pulling_us - COALESCE(waiting_us, 0))
        END AS attempt_us
    FROM stage_pulls
),

pull_steps AS (
    SELECT
        pod_uid, container, start_us, end_us, end_basis, resource_id, error, error_count,
        failed_us, is_pulled, was_present, attempt_us,
        CASE
            WHEN pulling_us IS NOT NULL AND waiting_us IS NOT NULL
                THEN LEAST(attempt_us + waiting_us, end_us)
        END AS begun_us
    FROM pulls
),

pull_segments AS (
    SELECT
        pod_uid, container, 1 AS seg_rank, 'image_pull' AS stage,
        CASE WHEN failed_us IS NOT NULL THEN 'pulling' END AS step,
        start_us, 'event' AS start_basis,
        CASE
            WHEN failed_us IS NOT NULL THEN failed_us
            WHEN begun_us IS NOT NULL THEN start_us
            ELSE end_us
        END AS end_us,
        CASE WHEN failed_us IS NULL AND begun_us IS NULL THEN end_basis ELSE 'event' END
            AS end_basis,
        resource_id, error, error_count
    FROM pull_steps
    UNION ALL
    SELECT
        pod_uid, container, 2 AS seg_rank, 'image_pull' AS stage,
        CASE WHEN attempt_us IS NOT NULL THEN 'back_off' END AS step,
        failed_us AS start_us, 'event' AS start_basis,
        COALESCE(attempt_us, end_us) AS end_us,
        CASE WHEN attempt_us < end_us THEN 'event' ELSE end_basis END AS end_basis,
        resource_id, error, error_count
    FROM pull_steps
    WHERE failed_us IS NOT NULL
    UNION ALL
    SELECT
        pod_uid, container, 3 AS seg_rank, 'image_pull' AS stage, 'node_queue' AS step,
        attempt_us AS start_us, 'event' AS start_basis, begun_us AS end_us, 'event' AS end_basis,
        resource_id, error, error_count
    FROM pull_steps
    WHERE begun_us IS NOT NULL AND is_pulled
    UNION ALL
    SELECT
        pod_uid, container, 4 AS seg_rank, 'image_pull' AS stage, 'pulling' AS step,
        COALESCE(begun_us, attempt_us) AS start_us, 'event' AS start_basis, end_us, end_basis,
        resource_id, error, error_count
    FROM pull_steps
    WHERE is_pulled AND attempt_us IS NOT NULL AND (begun_us IS NOT NULL OR failed_us IS NOT NULL)
),

-- From a pull, or from a run that failed, to the next start.
waits AS (
    SELECT
        r.pod_uid, r.container, r.container_role, r.start_us, r.start_basis, r.restart_count,
        MAX(p.end_us) AS pulled_us,
        MIN(p.start_us) AS pulling_us,
        COALESCE(ARG_MAX(p.was_present, {'us': p.end_us, 'was': p.was_present}), FALSE)
            AS was_present,
        b.end_us AS ended_us,
        b.end_basis AS ended_basis,
        b.is_end_proven AS was_end_proven,
        b.reason AS ended_reason,
        b.message AS ended_message,
        b.place IS NOT NULL AS is_restart
    FROM stage_runs AS r
    LEFT JOIN stage_runs AS b
        ON r.pod_uid = b.pod_uid AND r.container = b.container AND r.place = b.place + 1
    LEFT JOIN stage_pulls AS p
        ON r.pod_uid = p.pod_uid
        AND r.container = p.container
        AND p.end_us <= r.start_us
        AND (b.place IS NULL OR p.start_us >= b.end_us)
    GROUP BY ALL
),

start_segments AS (
    SELECT
        pod_uid, container, 5 AS seg_rank,
        CASE WHEN container_role = 'init' THEN 'init' ELSE 'startup' END AS stage,
        CAST(NULL AS VARCHAR) AS step,
        pulled_us AS start_us, 'event' AS start_basis, start_us AS end_us, start_basis AS end_basis,
        restart_count,
        CAST(NULL AS VARCHAR) AS reason,
        CAST(NULL AS VARCHAR) AS message
    FROM waits
    -- To an image that was there nothing goes.
    WHERE start_us - pulled_us > CASE WHEN was_present THEN 0 ELSE 1000000 END
    UNION ALL
    -- Behind the run before, which may have begun and ended in one second.
    SELECT
        pod_uid, container, 8 AS seg_rank,
        CASE WHEN container_role = 'init' THEN 'init' ELSE 'startup' END AS stage,
        'back_off' AS step,
        ended_us AS start_us, ended_basis AS start_basis,
        COALESCE(pulling_us, start_us) AS end_us,
        CASE WHEN pulling_us IS NOT NULL THEN 'event' ELSE start_basis END AS end_basis,
        restart_count, COALESCE(ended_reason, 'CrashLoopBackOff') AS reason,
        ended_message AS message
    FROM waits
    WHERE is_restart AND was_end_proven AND COALESCE(pulling_us, start_us) > ended_us
),

mains AS (
    SELECT
        pod_uid, container, end_us, end_basis, is_end_proven,
        ROW_NUMBER() OVER (PARTITION BY pod_uid ORDER BY end_us DESC, ordinal, container) AS place
    FROM stage_runs
    WHERE container_role = 'main' AND is_last
),

last_mains AS (
    SELECT
        m.pod_uid, m.container, m.end_us, m.end_basis, m.is_end_proven,
        c.state = 'waiting' AND l.end_us IS NULL AS is_waiting
    FROM mains AS m
    INNER JOIN stage_containers AS c ON m.pod_uid = c.pod_uid AND m.container = c.container
    INNER JOIN stage_lives AS l ON m.pod_uid = l.pod_uid
    WHERE m.place = 1
),

sidecars AS (
    SELECT
        r.pod_uid,
        MAX(r.end_us) AS end_us,
        -- Of several that end at once a proven end counts, `terminated` before `event`.
        ARG_MAX(
            r.end_basis, {'us': r.end_us, 'is_proven': r.is_end_proven, 'basis': r.end_basis}
        ) AS end_basis,
        ARG_MAX(
            r.is_end_proven, {'us': r.end_us, 'is_proven': r.is_end_proven, 'basis': r.end_basis}
        ) AS is_end_proven
    FROM stage_runs AS r
    WHERE r.container_role = 'sidecar' AND r.is_last
    GROUP BY r.pod_uid
),

run_segments AS (
    SELECT
        w.pod_uid, w.container, 6 AS seg_rank, w.stage, w.start_us, w.start_basis, w.end_us,
        w.end_basis, r.restart_count, w.resource_id,
        CASE WHEN w.is_end_of_run THEN NULLIF(r.reason, 'Completed') ELSE w.mark_error END
            AS reason,
        CASE WHEN w.is_end_of_run THEN r.message END AS message,
        FALSE AS is_back_off
    FROM stage_work AS w
    INNER JOIN stage_runs AS r
        ON w.pod_uid = r.pod_uid AND w.container = r.container AND w.run_us = r.start_us
    UNION ALL
    SELECT
        r.pod_uid, r.container, 6 AS seg_rank,
        CASE
            WHEN r.container_role = 'init' THEN 'init'
            WHEN r.container_role = 'ephemeral' OR l.is_interactive THEN 'interactive'
            ELSE 'compute'
        END AS stage,
        r.start_us, r.start_basis,
        CASE
            WHEN r.container_role = 'sidecar' AND m.is_end_proven AND NOT m.is_waiting
                THEN GREATEST(r.start_us, LEAST(r.end_us, m.end_us))
            ELSE r.end_us
        END AS end_us,
        CASE
            WHEN
                r.container_role = 'sidecar' AND m.is_end_proven AND NOT m.is_waiting
                AND m.end_us < r.end_us
                THEN m.end_basis
            ELSE r.end_basis
        END AS end_basis,
        r.restart_count,
        CAST(NULL AS VARCHAR) AS resource_id,
        CASE
            WHEN r.container_role <> 'sidecar' OR m.end_us IS NULL OR r.end_us <= m.end_us
                THEN NULLIF(r.reason, 'Completed')
        END AS reason,
        CASE
            WHEN r.container_role <> 'sidecar' OR m.end_us IS NULL OR r.end_us <= m.end_us
                THEN r.message
        END AS message,
        FALSE AS is_back_off
    FROM stage_runs AS r
    INNER JOIN stage_lives AS l ON r.pod_uid = l.pod_uid
    LEFT JOIN last_mains AS m ON r.pod_uid = m.pod_uid
    WHERE COALESCE(r.container_role, 'main') <> 'main'
    UNION ALL
    -- The sidecar's last synchronisation; the pod lives on for it.
    SELECT
        r.pod_uid, r.container, 7 AS seg_rank, 'upload' AS stage,
        GREATEST(r.start_us, m.end_us) AS start_us, m.end_basis AS start_basis, r.end_us,
        r.end_basis, r.restart_count,
        CAST(NULL AS VARCHAR) AS resource_id,
        NULLIF(r.reason, 'Completed') AS reason,
        r.message,
        FALSE AS is_back_off
    FROM stage_runs AS r
    INNER JOIN last_mains AS m ON r.pod_uid = m.pod_uid
    WHERE
        r.container_role = 'sidecar' AND r.is_last AND m.is_end_proven AND NOT m.is_waiting
        AND r.end_us > m.end_us
    UNION ALL
    SELECT
        m.pod_uid, m.container, 7 AS seg_rank, 'upload' AS stage,
        m.end_us AS start_us, m.end_basis AS start_basis, s.end_us, s.end_basis,
        CAST(NULL AS BIGINT) AS restart_count,
        CAST(NULL AS VARCHAR) AS resource_id,
        CAST(NULL AS VARCHAR) AS reason,
        CAST(NULL AS VARCHAR) AS message,
        FALSE AS is_back_off
    FROM last_mains AS m
    INNER JOIN sidecars AS s ON m.pod_uid = s.pod_uid
    WHERE m.is_end_proven AND NOT m.is_waiting AND s.end_us > m.end_us
    UNION ALL
    SELECT
        m.pod_uid, m.container, 8 AS seg_rank, 'teardown' AS stage,
        GREATEST(m.end_us, COALESCE(s.end_us, m.end_us)) AS start_us,
        CASE WHEN s.end_us > m.end_us THEN s.end_basis ELSE m.end_basis END AS start_basis,
        l.end_us, l.end_basis,
        CAST(NULL AS BIGINT) AS restart_count,
        CAST(NULL AS VARCHAR) AS resource_id,
        CAST(NULL AS VARCHAR) AS reason,
        CAST(NULL AS VARCHAR) AS message,
        FALSE AS is_back_off
    FROM last_mains AS m
    INNER JOIN stage_lives AS l ON m.pod_uid = l.pod_uid
    LEFT JOIN sidecars AS s ON m.pod_uid = s.pod_uid
    WHERE m.is_end_proven AND l.end_us > GREATEST(m.end_us, COALESCE(s.end_us, m.end_us))
    UNION ALL
    -- A container that ended and waits to be started again.
    SELECT
        r.pod_uid, r.container, 8 AS seg_rank,
        CASE WHEN r.container_role = 'init' THEN 'init' ELSE 'startup' END AS stage,
        r.end_us AS start_us, r.end_basis AS start_basis,
        COALESCE(l.end_us, GREATEST(l.alive_us, r.end_us)) AS end_us,
        COALESCE(l.end_basis, 'last_seen') AS end_basis,
        CASE WHEN c.state = 'waiting' THEN r.restart_count + 1 END AS restart_count,
        CAST(NULL AS VARCHAR) AS resource_id,
        COALESCE(c.waiting_reason, r.reason) AS reason,
        c.waiting_message AS message,
        TRUE AS is_back_off
    FROM stage_runs AS r
    INNER JOIN stage_containers AS c ON r.pod_uid = c.pod_uid AND r.container = c.container
    INNER JOIN stage_lives AS l ON r.pod_uid = l.pod_uid
    WHERE r.is_last AND r.is_end_proven AND c.state = 'waiting'
    AND NOT EXISTS (
        SELECT 1
        FROM stage_pulls AS p
        WHERE
            p.pod_uid = r.pod_uid AND p.container = r.container AND p.end_us > r.end_us
            AND NOT p.is_pulled
    )
),

-- A container that was created, or whose turn it is, and that never started.
unstarted AS (
    SELECT
        h.pod_uid, h.container, 9 AS seg_rank,
        CASE
            WHEN p.pulled_us IS NULL THEN 'unknown'
            WHEN h.container_role = 'init' THEN 'init'
            ELSE 'startup'
        END AS stage,
        COALESCE(p.pulled_us, h.first_us, h.before_us) AS start_us,
        CASE WHEN p.pulled_us IS NOT NULL THEN 'event'
            ELSE COALESCE(h.first_basis, h.before_basis) END AS start_basis,
        COALESCE(
            l.end_us, GREATEST(l.alive_us, COALESCE(p.pulled_us, h.first_us, h.before_us))
        ) AS end_us,
        COALESCE(l.end_basis, 'last_seen') AS end_basis,
        c.waiting_reason AS reason,
        c.waiting_message AS message
    FROM stage_chain AS h
    INNER JOIN stage_containers AS c ON h.pod_uid = c.pod_uid AND h.container = c.container
    INNER JOIN stage_lives AS l ON h.pod_uid = l.pod_uid
    LEFT JOIN (
        SELECT
            pod_uid, container,
            MAX(end_us) FILTER (WHERE is_pulled) AS pulled_us,
            BOOL_OR(NOT is_pulled) AS is_pulling
        FROM stage_pulls
        GROUP BY pod_uid, container
    ) AS p ON h.pod_uid = p.pod_uid AND h.container = p.container
    WHERE
        NOT EXISTS (
            SELECT 1 FROM stage_runs AS r
            WHERE r.pod_uid = h.pod_uid AND r.container = h.container
        )
        AND NOT COALESCE(p.is_pulling, FALSE)
        AND COALESCE(h.first_us, h.before_us) IS NOT NULL
        AND (h.first_us IS NOT NULL OR h.place > 1)
),

-- The end of an init container's time is the next turn, within the second that is cut off.
handed_over AS (
    SELECT
        pod_uid, container, 9 AS seg_rank, 'unknown' AS stage,
        next_us AS start_us, next_basis AS start_basis,
        next_us AS end_us, next_basis AS end_basis
    FROM stage_chain
    WHERE container_role = 'init' AND next_us IS NOT NULL
)

SELECT
    pod_uid, container, seg_rank, stage, step, start_us, start_basis, end_us, end_basis,
    CAST(NULL AS BIGINT) AS restart_count,
    CAST(NULL AS VARCHAR) AS resource_id,
    CAST(NULL AS VARCHAR) AS reason,
    CAST(NULL AS VARCHAR) AS message,
    CAST(NULL AS BIGINT) AS event_count
FROM turns
UNION ALL
SELECT
    pod_uid, container, seg_rank, stage, step, start_us, start_basis, end_us, end_basis,
    CAST(NULL AS BIGINT) AS restart_count,
    resource_id,
    CASE WHEN error IS NOT NULL THEN 'Failed' END AS reason,
    error AS message,
    CASE WHEN error IS NOT NULL THEN error_count END AS event_count
FROM pull_segments
UNION ALL
SELECT
    pod_uid, container, seg_rank, stage, step, start_us, start_basis, end_us, end_basis,
    restart_count,
    CAST(NULL AS VARCHAR) AS resource_id,
    reason, message,
    CAST(NULL AS BIGINT) AS event_count
FROM start_segments
UNION ALL
SELECT
    pod_uid, container, seg_rank, stage,
    CASE WHEN is_back_off THEN 'back_off' END AS step,
    start_us, start_basis, end_us, end_basis, restart_count, resource_id, reason, message,
    CAST(NULL AS BIGINT) AS event_count
FROM run_segments
UNION ALL
SELECT
    pod_uid, container, seg_rank, stage, CAST(NULL AS VARCHAR) AS step, start_us, start_basis,
    end_us, end_basis,
    CAST(NULL AS BIGINT) AS restart_count,
    CAST(NULL AS VARCHAR) AS resource_id,
    reason, message,
    CAST(NULL AS BIGINT) AS event_count
FROM unstarted
UNION ALL
SELECT
    h.pod_uid, h.container, h.seg_rank, h.stage, CAST(NULL AS VARCHAR) AS step, h.start_us,
    h.start_basis, h.end_us, h.end_basis,
    CAST(NULL AS BIGINT) AS restart_count,
    CAST(NULL AS VARCHAR) AS resource_id,
    CAST(NULL AS VARCHAR) AS reason,
    CAST(NULL AS VARCHAR) AS message,
    CAST(NULL AS BIGINT) AS event_count
FROM handed_over AS h
INNER JOIN stage_runs AS r
    ON h.pod_uid = r.pod_uid AND h.container = r.container
WHERE
    r.is_last AND r.is_end_proven
    AND h.start_us > r.end_us AND h.start_us - r.end_us <= 1000000
