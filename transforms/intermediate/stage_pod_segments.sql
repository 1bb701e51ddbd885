-- Stages of pods before their containers, each as far as it is proven, and the two ends of that time.
-- Grain: one stage of one pod.
-- Reads: stage_lives, stage_chain.
WITH containers AS (
    SELECT
        pod_uid, MIN(containers_us) AS containers_us,
        ARG_MIN(first_basis, {'us': first_us, 'basis': first_basis})
            FILTER (WHERE first_us IS NOT NULL) AS containers_basis,
        -- A pull or a creation comes right behind the sandbox; a start alone does not.
        BOOL_OR(first_us <= containers_us AND first_basis = 'event') AS is_seen_to_begin
    FROM stage_chain
    GROUP BY pod_uid
),

pods AS (
    SELECT
        l.*,
        CASE WHEN c.containers_us IS NOT NULL THEN GREATEST(c.containers_us, l.scheduled_us) END
            AS containers_us,
        c.containers_basis,
        COALESCE(c.is_seen_to_begin, FALSE) AS is_seen_to_begin,
        COALESCE(l.end_us, l.alive_us) AS over_us,
        COALESCE(l.end_basis, 'last_seen') AS over_basis
    FROM stage_lives AS l
    LEFT JOIN containers AS c ON l.pod_uid = c.pod_uid
),

bounded AS (
    SELECT
        *,
        COALESCE(containers_us, over_us) AS last_us,
        -- A pod that has a container was scheduled, whoever saw it.
        COALESCE(scheduled_us, containers_us) AS bound_us,
        CASE
            WHEN gated_us IS NOT NULL
                THEN LEAST(gated_us, scheduled_us, COALESCE(containers_us, over_us))
        END AS ungated_us
    FROM pods
),

-- What events say of mounting ends where the containers, or their sandbox, are seen.
stepped AS (
    SELECT
        *,
        CASE
            WHEN mounting_us IS NOT NULL THEN LEAST(mounting_us, last_us, sandbox_from_us)
        END AS mounted_us,
        -- The kubelet writes the condition with its next status, often behind the containers.
        CASE
            WHEN LEAST(ready_us, containers_us) IS NULL THEN NULL
            WHEN is_seen_to_begin THEN LEAST(ready_us, containers_us)
            WHEN ready_us IS NOT NULL THEN LEAST(ready_us, containers_us)
        END AS sandboxed_us,
        CASE
            WHEN ready_us <= COALESCE(containers_us, ready_us) THEN 'condition'
            ELSE containers_basis
        END AS sandboxed_basis,
        COALESCE(containers_us, ready_us, sandbox_from_us) IS NULL AS is_last_known
    FROM bounded
)

SELECT
    pod_uid, -1 AS seg_rank, 'unknown' AS stage, created_us AS start_us, 'created' AS start_basis,
    created_us AS end_us, 'created' AS end_basis,
    CAST(NULL AS BIGINT) AS end_latest_us,
    CAST(NULL AS VARCHAR) AS reason,
    CAST(NULL AS VARCHAR) AS message,
    CAST(NULL AS BIGINT) AS event_count
FROM stepped
UNION ALL
SELECT
    pod_uid, 0 AS seg_rank, 'admission' AS stage, created_us AS start_us, 'created' AS start_basis,
    ungated_us AS end_us, 'last_seen' AS end_basis, scheduled_us AS end_latest_us,
    'SchedulingGated' AS reason,
    CAST(NULL AS VARCHAR) AS message,
    CAST(NULL AS BIGINT) AS event_count
FROM stepped
WHERE ungated_us > created_us
UNION ALL
SELECT
    pod_uid, 1 AS seg_rank, 'scheduling' AS stage,
    CASE
        WHEN ungated_us > created_us
            THEN LEAST(GREATEST(COALESCE(unschedulable_from_us, bound_us), ungated_us), last_us)
        ELSE created_us
    END AS start_us,
    CASE WHEN ungated_us > created_us THEN 'event' ELSE 'created' END AS start_basis,
    COALESCE(LEAST(scheduled_us, last_us), over_us) AS end_us,
    CASE
        WHEN scheduled_us IS NOT NULL THEN scheduled_basis
        ELSE over_basis
    END AS end_basis,
    CASE WHEN scheduled_us IS NULL THEN COALESCE(end_us, limit_us) END AS end_latest_us,
    CASE
        WHEN COALESCE(unschedulable_us, unschedulable_from_us) IS NOT NULL
            OR unschedulable_message IS NOT NULL
            THEN 'FailedScheduling'
    END AS reason,
    unschedulable_message AS message,
    unschedulable_count AS event_count
FROM stepped
WHERE scheduled_us IS NOT NULL OR containers_us IS NULL
UNION ALL
SELECT
    pod_uid, 2 AS seg_rank, 'volume_mount' AS stage, scheduled_us AS start_us,
    scheduled_basis AS start_basis, mounted_us AS end_us,
    CASE WHEN is_last_known AND mounted_us = over_us THEN over_basis ELSE 'event' END AS end_basis,
    CASE WHEN is_last_known AND mounted_us = over_us THEN COALESCE(end_us, limit_us) END
        AS end_latest_us,
    mounting_reason AS reason, mounting_message AS message, mounting_count AS event_count
FROM stepped
WHERE mounted_us > scheduled_us
UNION ALL
SELECT
    pod_uid, 3 AS seg_rank, 'sandbox' AS stage,
    CASE
        WHEN mounted_us > scheduled_us
            THEN LEAST(COALESCE(sandbox_from_us, sandboxed_us), sandboxed_us)
        ELSE scheduled_us
    END AS start_us,
    CASE WHEN mounted_us > scheduled_us THEN 'event' ELSE scheduled_basis END AS start_basis,
    COALESCE(sandboxed_us, LEAST(sandbox_us, last_us)) AS end_us,
    CASE
        WHEN sandboxed_us IS NOT NULL THEN sandboxed_basis
        WHEN sandbox_us >= over_us THEN over_basis
        ELSE 'event'
    END AS end_basis,
    CASE WHEN sandboxed_us IS NULL AND sandbox_us >= over_us THEN COALESCE(end_us, limit_us) END
        AS end_latest_us,
    sandbox_reason AS reason, sandbox_message AS message, sandbox_count AS event_count
FROM stepped
WHERE scheduled_us IS NOT NULL AND COALESCE(sandboxed_us, sandbox_us) IS NOT NULL
UNION ALL
-- The end of what is told of the pod as a whole: its first container, else its own end.
SELECT
    pod_uid, 9 AS seg_rank, 'unknown' AS stage, last_us AS start_us,
    CASE WHEN containers_us IS NOT NULL THEN containers_basis ELSE over_basis END AS start_basis,
    last_us AS end_us,
    CASE WHEN containers_us IS NOT NULL THEN containers_basis ELSE over_basis END AS end_basis,
    CASE WHEN containers_us IS NULL THEN COALESCE(end_us, limit_us) END AS end_latest_us,
    CAST(NULL AS VARCHAR) AS reason,
    CAST(NULL AS VARCHAR) AS message,
    CAST(NULL AS BIGINT) AS event_count
FROM stepped
