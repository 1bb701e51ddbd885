-- Events that tell of stages, of the day's pods. One without a UID is of the only pod of its name.
-- Grain: one event over its repetitions.
-- Reads: kube_event_states, stage_pods.
-- Parameters: $cluster, $span_start, $day_end.
WITH names AS (
    SELECT namespace, pod_name, MIN(pod_uid) AS pod_uid
    FROM stage_pods
    GROUP BY namespace, pod_name
    HAVING COUNT(*) = 1
),

told AS (
    SELECT
        COALESCE(e.involved_uid, n.pod_uid) AS pod_uid,
        e.container,
        COALESCE(STARTS_WITH(e.field_path, 'spec.initContainers{'), FALSE) AS is_init,
        e.reason,
        REGEXP_REPLACE(e.message, '^\(combined from similar events\): ', '') AS message,
        epoch_us(COALESCE(e.first_at, e.event_at)) AS first_us,
        epoch_us(e.event_at) AS last_us,
        COALESCE(e.event_count, 1) AS event_count
    FROM kube_event_states AS e
    LEFT JOIN names AS n
        ON e.involved_uid IS NULL AND e.namespace = n.namespace AND e.involved_name = n.pod_name
    WHERE
        e.cluster = $cluster
        AND COALESCE(e.involved_kind, 'Pod') = 'Pod'
        AND e.event_at >= CAST($span_start AS TIMESTAMPTZ)
),

kinds AS (
    SELECT
        *,
        CASE
            WHEN reason = 'Scheduled' THEN 'scheduled'
            WHEN reason = 'FailedScheduling' AND message LIKE 'skip schedule deleting%'
                THEN 'deleting'
            WHEN reason = 'FailedScheduling' THEN 'unschedulable'
            WHEN reason IN ('FailedMount', 'FailedAttachVolume', 'FailedMapVolume') THEN 'unmounted'
            WHEN reason IN ('SuccessfulAttachVolume', 'SuccessfulMountVolume') THEN 'attached'
            WHEN
                reason IN (
                    'FailedCreatePodSandBox', 'FailedPodSandBoxStatus',
                    'FailedPrepareDynamicResources'
                )
                THEN 'no_sandbox'
            WHEN reason = 'Created' THEN 'created'
            WHEN reason = 'Started' THEN 'started'
            WHEN reason = 'Killing' THEN 'killing'
            WHEN reason = 'Pulling' THEN 'pulling'
            WHEN
                reason = 'Failed' AND REGEXP_MATCHES(
                    message,
                    '^(Failed to pull image|Error: (ErrImagePull|ImagePullBackOff'
                    || '|RegistryUnavailable|SignatureValidationFailed))'
                )
                THEN 'unpulled'
            WHEN reason = 'BackOff' AND STARTS_WITH(message, 'Back-off pulling image')
                THEN 'unpulled'
            WHEN reason = 'BackOff' THEN 'restarting'
            WHEN reason = 'Failed' THEN 'unstarted'
            ELSE 'other'
        END AS kind
    FROM told
)

SELECT
    pod_uid, container, kind, reason, message, first_us,
    BOOL_OR(is_init) AS is_init,
    MAX(last_us) AS last_us,
    -- How often by the end of the day, at least: once, unless a state of the day counts more.
    CASE
        WHEN first_us < epoch_us(CAST($day_end AS TIMESTAMPTZ))
            THEN COALESCE(
                MAX(event_count)
                    FILTER (WHERE last_us < epoch_us(CAST($day_end AS TIMESTAMPTZ))),
                1
            )
    END AS event_count
FROM kinds
WHERE pod_uid IN (SELECT pod_uid FROM stage_pods)
GROUP BY pod_uid, container, kind, reason, message, first_us
