-- Marks of applications with the pod and container that they are of. A mark without a UID is of the
-- only pod of its name; one without a container is of the pod's only main container.
-- `class`: what the activity is to the stages: interactive (somebody's session in the container),
-- download, startup, compute or upload; null is none.
-- Grain: one mark.
-- Reads: stage_marks, stage_pods, container_states.
-- Parameters: $cluster, $span_start.
WITH names AS (
    SELECT namespace, pod_name, MIN(pod_uid) AS pod_uid
    FROM stage_pods
    GROUP BY namespace, pod_name
    HAVING COUNT(*) = 1
),

only_names AS (
    SELECT pod_name, MIN(pod_uid) AS pod_uid
    FROM stage_pods
    GROUP BY pod_name
    HAVING COUNT(*) = 1
),

mains AS (
    SELECT pod_uid, MIN(container) AS container
    FROM container_states
    WHERE container_role = 'main'
    GROUP BY pod_uid
    HAVING COUNT(DISTINCT container) = 1
),

known AS (
    SELECT
        COALESCE(m.pod_uid, n.pod_uid, o.pod_uid) AS pod_uid,
        m.container, m.activity, m.phase, m.resource, m.outcome, m.error_type, m.record_id,
        m.row_index,
        epoch_us(m.event_at) AS mark_us,
        CAST(ROUND(m.elapsed_seconds * 1000000) AS BIGINT) AS elapsed_us
    FROM stage_marks AS m
    LEFT JOIN names AS n
        ON m.pod_uid IS NULL AND m.namespace = n.namespace AND m.pod_name = n.pod_name
    LEFT JOIN only_names AS o
        ON m.pod_uid IS NULL AND m.namespace IS NULL AND m.pod_name = o.pod_name
    WHERE
        (m.cluster = $cluster OR m.cluster IS NULL)
        AND m.event_at >= CAST($span_start AS TIMESTAMPTZ)
)

SELECT
    k.* EXCLUDE (container),
    COALESCE(k.container, a.container) AS container,
    CASE
        WHEN k.activity = 'terminal_session' THEN 'interactive'
        WHEN REGEXP_MATCHES(k.activity, 'upload|push') THEN 'upload'
        WHEN REGEXP_MATCHES(k.activity, 'download|fetch|pull|clone') THEN 'download'
        WHEN
            REGEXP_MATCHES(
                k.activity,
                'first_batch|train|epoch|step|eval|infer|predict|fit|optimi[sz]|compute'
            )
            THEN 'compute'
        WHEN
            REGEXP_MATCHES(
                k.activity,
                'install|import|init|setup|start|load|prepare|restore|warm|compile|generat'
            )
            THEN 'startup'
    END AS class
FROM known AS k
LEFT JOIN mains AS a ON k.pod_uid = a.pod_uid
WHERE k.pod_uid IN (SELECT pod_uid FROM stage_pods)
