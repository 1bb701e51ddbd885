-- Storms of the day with how they ended, what they cost and who can end them.
-- Grain: one storm with a failure on the day.
-- Reads: storm_attempts, storm_events, attempts, stages, waits, pod_intervals, runs_of_day,
--   image_pulls, owner_rules.
-- Parameters: $date, $day_start, $day_end.
WITH storms AS (
    SELECT * FROM storm_attempts
    UNION ALL
    SELECT * FROM storm_events
),

of_day AS (
    SELECT
        *,
        row_id([
            id_text(cluster), id_text(pod_uid), id_text(container), id_text(resource_id),
            id_text(error_class), id_text(start_us)
        ]) AS storm_id
    FROM storms
    WHERE end_us >= epoch_us(CAST($day_start AS TIMESTAMPTZ)) AND day_failure_count > 0
),

pods AS (
    SELECT
        cluster, pod_uid, MIN(run_uuid) AS run_uuid, MIN(attempt) AS attempt,
        MIN(project) AS project, MIN(namespace) AS namespace, MIN(pod_name) AS pod_name,
        MIN(node) AS node
    FROM pod_intervals
    WHERE date = CAST($date AS DATE)
    GROUP BY cluster, pod_uid
),

successes AS (
    SELECT o.storm_id, MIN(a.begin_us) AS success_us
    FROM of_day AS o
    INNER JOIN attempts AS a
        ON o.cluster = a.cluster
        AND o.pod_uid = a.pod_uid
        AND o.container IS NOT DISTINCT FROM a.container
        AND o.resource_id = a.resource_id
        AND o.activity = a.activity
        AND a.outcome = 'ok'
        AND a.error_class IS NULL
        AND a.begin_us > o.end_us
    GROUP BY o.storm_id
    UNION ALL
    SELECT o.storm_id, MIN(epoch_us(p.end_at)) AS success_us
    FROM of_day AS o
    INNER JOIN image_pulls AS p
        ON o.activity = 'image_pull'
        AND o.cluster = p.cluster
        AND o.pod_uid = p.pod_uid
        AND o.container IS NOT DISTINCT FROM p.container
        AND epoch_us(p.end_at) >= o.end_us
    GROUP BY o.storm_id
    UNION ALL
    -- What the kubelet does for a pod succeeded where the pod came further.
    SELECT o.storm_id, MIN(epoch_us(s.start_at)) AS success_us
    FROM of_day AS o
    INNER JOIN stages AS s
        ON o.activity IN ('volume_mount', 'sandbox')
        AND o.cluster = s.cluster
        AND o.pod_uid = s.pod_uid
        AND s.container IS NOT NULL
        AND s.date = CAST($date AS DATE)
        AND epoch_us(s.start_at) >= o.end_us
    GROUP BY o.storm_id
),

recovered AS (
    SELECT storm_id, MIN(success_us) AS success_us
    FROM successes
    WHERE success_us IS NOT NULL
    GROUP BY storm_id
),

-- How the container (the pod, where none is named) went on.
lives AS (
    SELECT
        o.storm_id,
        BOOL_OR(s.end_at IS NULL) AS is_alive,
        MAX(epoch_us(s.end_at)) AS ended_us,
        ARG_MAX(
            s.end_basis,
            {'us': COALESCE(epoch_us(s.end_at), 4000000000000000000), 'id': s.stage_id}
        ) AS end_basis,
        ARG_MAX(
            s.reason,
            {'us': COALESCE(epoch_us(s.end_at), 4000000000000000000), 'id': s.stage_id}
        ) AS reason
    FROM of_day AS o
    INNER JOIN stages AS s
        ON o.cluster = s.cluster
        AND o.pod_uid = s.pod_uid
        AND (o.container IS NULL OR o.container = s.container)
        AND s.stage NOT IN ('teardown', 'upload')
        AND s.date = CAST($date AS DATE)
    GROUP BY o.storm_id
),

roles AS (
    SELECT cluster, pod_uid, container, MIN(container_role) AS container_role
    FROM stages
    WHERE date = CAST($date AS DATE) AND container IS NOT NULL
    GROUP BY cluster, pod_uid, container
),

-- Causes of waits that failures of a class make; a null class is any. A 404 makes nobody wait.
wait_causes AS (
    SELECT activity, error_class, cause
    FROM (VALUES
        ('object_access', 'forbidden', 'denied'),
        ('object_access', 'throttled', 'throttled'),
        ('object_access', 'credentials', 'authenticate'),
        ('object_access', 'server_error', 'retry'),
        ('object_access', 'timeout', 'retry'),
        ('object_access', 'other', 'retry'),
        ('connect', 'policy_drop', 'denied'),
        ('connect', 'connection_failure', 'retry'),
        ('connect', 'connection_failure', 'connect'),
        ('connect', 'connection_failure', 'authenticate'),
        ('resolve', NULL, 'resolve'),
        ('volume_mount', NULL, 'volume'),
        ('sandbox', NULL, 'sandbox'),
        ('image_pull', NULL, 'image_pull'),
        ('container', NULL, 'retry')
    ) AS causes (activity, error_class, cause)
),

caused AS (
    SELECT
        o.*, c.cause,
        COALESCE(r.success_us, o.end_us + 300000000) AS over_us
    FROM of_day AS o
    LEFT JOIN recovered AS r ON o.storm_id = r.storm_id
    INNER JOIN wait_causes AS c
        ON o.activity = c.activity
        AND o.error_class = COALESCE(c.error_class, o.error_class)
),

-- One wait is of one storm, and of it only what lies within the storm.
lost AS (
    SELECT
        o.storm_id,
        w.duration_us,
        w.gpu_us,
        LEAST(epoch_us(w.end_at), o.over_us) - GREATEST(epoch_us(w.start_at), o.start_us)
            AS lost_us
    FROM caused AS o
    INNER JOIN waits AS w
        ON o.cluster = w.cluster
        AND o.pod_uid = w.pod_uid
        AND o.cause = w.cause
        AND (
            o.container IS NULL
            OR o.container = w.container
            OR (w.stage = 'upload' AND w.container_role = 'main')
        )
        AND w.date = CAST($date AS DATE)
        AND epoch_us(w.start_at) < o.over_us
        AND epoch_us(w.end_at) > o.start_us
        AND CASE
            WHEN o.activity IN ('volume_mount', 'sandbox') THEN TRUE
            WHEN o.activity = 'container' THEN w.step = 'back_off'
            ELSE w.resource_id = o.resource_id
        END
    -- The main container has the sidecar's time while the pod uploads, once.
    WHERE NOT (w.stage = 'upload' AND w.container_role = 'sidecar')
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY w.wait_id ORDER BY o.start_us DESC, o.storm_id
    ) = 1
),

losses AS (
    SELECT
        storm_id,
        SUM(lost_us) AS lost_us,
        CASE WHEN COUNT(*) = COUNT(gpu_us)
            THEN SUM(CAST(gpu_us AS HUGEINT) * lost_us // duration_us) END AS lost_gpu_us
    FROM lost
    GROUP BY storm_id
)

SELECT
    o.storm_id,
    o.cluster,
    p.run_uuid,
    p.attempt,
    COALESCE(u.project, p.project) AS project,
    p.namespace,
    p.pod_name,
    o.pod_uid,
    p.node,
    o.container,
    c.container_role,
    o.resource_id,
    o.activity,
    o.error_class,
    make_timestamptz(o.start_us) AS start_at,
    make_timestamptz(o.end_us) AS end_at,
    CAST(o.failure_count AS BIGINT) AS failure_count,
    CAST(o.day_failure_count AS BIGINT) AS day_failure_count,
    o.first_error,
    o.status,
    o.denied_by,
    make_timestamptz(r.success_us) AS succeeded_at,
    CASE
        WHEN r.success_us IS NOT NULL THEN 'recovered'
        WHEN l.storm_id IS NULL THEN 'unknown'
        WHEN
            l.is_alive
            AND o.end_us < epoch_us(CAST($day_end AS TIMESTAMPTZ)) - 300000000
            AND o.activity IN ('object_access', 'resolve', 'connect')
            THEN 'gave_up'
        -- The kubelet tries on as long as the pod is there.
        WHEN l.is_alive THEN 'unbounded'
        WHEN o.activity NOT IN ('object_access', 'resolve', 'connect') THEN 'unbounded'
        WHEN l.ended_us - o.end_us > 300000000 THEN 'gave_up'
        WHEN l.end_basis = 'terminated' AND COALESCE(l.reason, '') <> 'OOMKilled' THEN 'gave_up'
        WHEN l.end_basis IN ('deletion', 'event', 'terminated') THEN 'unbounded'
        ELSE 'unknown'
    END AS retry_end,
    COALESCE(w.responsible, d.responsible) AS responsible,
    CAST(COALESCE(s.lost_us, 0) AS BIGINT) AS day_lost_us,
    CAST(COALESCE(s.lost_us, 0) AS DOUBLE) / 1000000 AS day_lost_seconds,
    CAST(CASE WHEN s.storm_id IS NULL THEN 0 ELSE s.lost_gpu_us END AS BIGINT) AS day_lost_gpu_us,
    o.match_kind,
    o.container_kind,
    o.sources,
    o.evidence_ids,
    o.cluster AS asked_cluster,
    p.run_uuid AS asked_run,
    o.resource_id AS asked_resource,
    CASE
        WHEN o.activity = 'resolve' THEN 'resolve'
        WHEN o.activity IN ('object_access', 'connect') THEN 'connect'
    END AS asked_operation
FROM of_day AS o
INNER JOIN pods AS p ON o.cluster = p.cluster AND o.pod_uid = p.pod_uid
LEFT JOIN roles AS c
    ON o.cluster = c.cluster AND o.pod_uid = c.pod_uid AND o.container = c.container
LEFT JOIN recovered AS r ON o.storm_id = r.storm_id
LEFT JOIN lives AS l ON o.storm_id = l.storm_id
LEFT JOIN losses AS s ON o.storm_id = s.storm_id
LEFT JOIN runs_of_day AS u ON p.run_uuid = u.run_uuid
LEFT JOIN owner_rules AS w ON o.activity = w.activity AND o.error_class = w.error_class
LEFT JOIN owner_rules AS d ON o.activity = d.activity AND d.error_class IS NULL
