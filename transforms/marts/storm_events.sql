-- Failures that Kubernetes counts itself: pulls, mounts and sandboxes of pods, by what events say,
-- and containers that end again and again. Their single times are not kept; they are of one storm
-- where they came 300 s apart at most on the whole.
-- Grain: one kind of failure of one pod, container and resource.
-- Reads: kube_event_states, container_states, pod_intervals, image_pulls.
-- Parameters: $date, $day_start, $day_end, $span_start.
WITH pods AS (
    SELECT
        cluster, pod_uid,
        MIN(namespace) AS namespace, MIN(pod_name) AS pod_name, MIN(node) AS node,
        MIN(created_at) AS created_at
    FROM pod_intervals
    WHERE date = CAST($date AS DATE)
    GROUP BY cluster, pod_uid
),

names AS (
    SELECT cluster, namespace, pod_name, MIN(pod_uid) AS pod_uid
    FROM pods
    GROUP BY cluster, namespace, pod_name
    HAVING COUNT(*) = 1
),

images AS (
    SELECT
        p.cluster, p.pod_uid, p.container, p.image,
        MAX(image_resource(p.image, p.registry, p.image_digest)) AS resource_id
    FROM image_pulls AS p
    WHERE p.pod_uid IS NOT NULL
    GROUP BY p.cluster, p.pod_uid, p.container, p.image
),

told AS (
    SELECT
        e.cluster,
        COALESCE(e.involved_uid, n.pod_uid) AS pod_uid,
        e.container, e.reason,
        REGEXP_REPLACE(e.message, '^\(combined from similar events\): ', '') AS message,
        COALESCE(e.first_at, e.event_at) AS first_at,
        e.event_at AS last_at,
        COALESCE(e.event_count, 1) AS event_count,
        e.record_id
    FROM kube_event_states AS e
    LEFT JOIN names AS n
        ON e.involved_uid IS NULL
        AND e.cluster = n.cluster
        AND e.namespace = n.namespace
        AND e.involved_name = n.pod_name
    WHERE
        COALESCE(e.involved_kind, 'Pod') = 'Pod'
        AND e.event_at >= CAST($span_start AS TIMESTAMPTZ)
        AND COALESCE(e.first_at, e.event_at) < CAST($day_end AS TIMESTAMPTZ)
        AND (
            (e.reason = 'Failed' AND e.message LIKE '%Failed to pull image "%')
            OR e.reason IN ('FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox')
        )
),

-- One event over its states: what is known of it by the end of the day.
series AS (
    SELECT
        cluster, pod_uid, container, reason, message, first_at,
        MAX(last_at) FILTER (WHERE last_at < CAST($day_end AS TIMESTAMPTZ)) AS last_at,
        MAX(event_count) FILTER (WHERE last_at < CAST($day_end AS TIMESTAMPTZ)) AS event_count,
        MAX(event_count) FILTER (WHERE last_at < CAST($day_start AS TIMESTAMPTZ))
            AS count_before,
        MIN(record_id) AS record_id
    FROM told
    GROUP BY cluster, pod_uid, container, reason, message, first_at
),

classed AS (
    SELECT
        s.cluster, s.pod_uid, s.container, s.message, s.first_at,
        COALESCE(s.last_at, s.first_at) AS last_at,
        COALESCE(s.event_count, 1) AS failure_count,
        CASE WHEN s.first_at < CAST($day_start AS TIMESTAMPTZ) THEN COALESCE(s.count_before, 1)
            ELSE 0 END AS count_before,
        s.record_id,
        CASE
            WHEN s.reason = 'Failed' THEN 'image_pull'
            WHEN s.reason = 'FailedCreatePodSandBox' THEN 'sandbox'
            ELSE 'volume_mount'
        END AS activity,
        CASE
            WHEN s.reason = 'Failed'
                THEN NULLIF(REGEXP_EXTRACT(s.message, 'Failed to pull image "([^"]+)"', 1), '')
        END AS image,
        CASE
            WHEN s.reason IN ('FailedMount', 'FailedAttachVolume')
                THEN COALESCE(
                    NULLIF(REGEXP_EXTRACT(s.message, 'volume "([^"]+)"', 1), ''),
                    NULLIF(REGEXP_EXTRACT(s.message, 'unmounted volumes=\[([^\] ]+)', 1), ''),
                    '(unnamed)'
                )
        END AS volume,
        LOWER(s.message) AS said
    FROM series AS s
    WHERE s.pod_uid IS NOT NULL
),

judged AS (
    SELECT
        *,
        CASE
            WHEN activity = 'volume_mount' AND said LIKE '%timed out%' THEN 'timeout'
            WHEN activity <> 'image_pull' THEN 'other'
            ELSE pull_error_class(said)
        END AS error_class
    FROM classed
),

-- Of a container's runs states keep two; how many there were the restarts tell.
ended AS (
    SELECT
        cluster, pod_uid, container, observed_at, record_id,
        CASE WHEN state = 'terminated' THEN finished_at ELSE last_finished_at END AS ended_at,
        restart_count + CASE WHEN state IN ('waiting', 'terminated') THEN 1 ELSE 0 END
            AS failure_count,
        CASE WHEN state = 'terminated' THEN exit_code ELSE last_exit_code END AS exit_code,
        CASE WHEN state = 'terminated' THEN reason ELSE last_reason END AS reason
    FROM container_states
    WHERE restart_count IS NOT NULL
),

crashed AS (
    SELECT
        cluster, pod_uid, container,
        MIN(ended_at) AS first_at,
        MAX(ended_at) AS last_at,
        MIN(failure_count) AS least_count,
        MAX(failure_count) AS failure_count,
        MAX(failure_count) FILTER (WHERE ended_at < CAST($day_start AS TIMESTAMPTZ))
            AS count_before,
        ARG_MIN(exit_code, {'at': ended_at, 'id': record_id}) AS exit_code,
        ARG_MIN(reason, {'at': ended_at, 'id': record_id}) AS reason,
        MIN(record_id) AS record_id
    FROM ended
    WHERE
        exit_code <> 0
        AND ended_at < CAST($day_end AS TIMESTAMPTZ)
        AND ended_at >= CAST($span_start AS TIMESTAMPTZ)
    GROUP BY cluster, pod_uid, container
),

-- All of them since the pod was made, if even that time is short enough; else those between the
-- first and the last that a state shows.
crashes AS (
    SELECT
        c.cluster, c.pod_uid, c.container, c.last_at, c.exit_code, c.reason, c.record_id,
        p.namespace, p.pod_name,
        CASE WHEN w.is_whole THEN LEAST(c.first_at, p.created_at) ELSE c.first_at END AS first_at,
        CASE WHEN w.is_whole THEN c.failure_count ELSE c.failure_count - c.least_count + 1 END
            AS failure_count,
        CASE
            WHEN c.count_before IS NULL THEN 0
            WHEN w.is_whole THEN c.count_before
            ELSE c.count_before - c.least_count + 1
        END AS count_before
    FROM crashed AS c
    INNER JOIN pods AS p ON c.cluster = p.cluster AND c.pod_uid = p.pod_uid
    INNER JOIN (
        SELECT
            d.cluster, d.pod_uid, d.container,
            epoch_us(d.last_at) - epoch_us(q.created_at) <= 300000000 * (d.failure_count - 1)
                AS is_whole
        FROM crashed AS d
        INNER JOIN pods AS q ON d.cluster = q.cluster AND d.pod_uid = q.pod_uid
    ) AS w
        ON c.cluster = w.cluster AND c.pod_uid = w.pod_uid AND c.container = w.container
),

failures AS (
    SELECT
        j.cluster, j.pod_uid, j.container, j.activity, j.error_class,
        CASE
            WHEN j.activity = 'image_pull' THEN COALESCE(i.resource_id, 'oci://' || j.image)
            WHEN j.activity = 'sandbox' THEN 'node://' || j.cluster || '/' || COALESCE(p.node, '')
            ELSE 'kube://' || j.cluster || '/' || p.namespace || '/volume/' || j.volume
        END AS resource_id,
        j.message AS error, j.first_at, j.last_at, j.failure_count, j.count_before, j.record_id,
        'kube_event_states' AS source
    FROM judged AS j
    INNER JOIN pods AS p ON j.cluster = p.cluster AND j.pod_uid = p.pod_uid
    LEFT JOIN images AS i
        ON j.cluster = i.cluster AND j.pod_uid = i.pod_uid AND j.image = i.image
        AND j.container IS NOT DISTINCT FROM i.container
    UNION ALL
    SELECT
        c.cluster, c.pod_uid, c.container, 'container' AS activity, 'exit' AS error_class,
        'kube://' || c.cluster || '/' || c.namespace || '/' || c.pod_name AS resource_id,
        COALESCE(c.reason, 'exit') || ' (exit code ' || CAST(c.exit_code AS VARCHAR) || ')'
            AS error,
        c.first_at, c.last_at, c.failure_count, c.count_before, c.record_id,
        'container_states' AS source
    FROM crashes AS c
)

SELECT
    cluster, pod_uid, container, resource_id, activity, error_class,
    epoch_us(MIN(first_at)) AS start_us,
    epoch_us(MAX(last_at)) AS end_us,
    CAST(SUM(failure_count) AS BIGINT) AS failure_count,
    CAST(SUM(failure_count) - SUM(LEAST(count_before, failure_count)) AS BIGINT)
        AS day_failure_count,
    ARG_MIN(error, {'at': first_at, 'id': record_id}) AS first_error,
    CAST(NULL AS BIGINT) AS status,
    CAST([] AS VARCHAR[]) AS denied_by,
    'uid' AS match_kind,
    CAST(NULL AS VARCHAR) AS container_kind,
    LIST_SORT(LIST(DISTINCT source)) AS sources,
    LIST_SORT(LIST(DISTINCT record_id))[1:10] AS evidence_ids
FROM failures
GROUP BY cluster, pod_uid, container, resource_id, activity, error_class
HAVING
    SUM(failure_count) >= 5
    AND epoch_us(MAX(last_at)) - epoch_us(MIN(first_at)) <= 300000000 * (SUM(failure_count) - 1)
