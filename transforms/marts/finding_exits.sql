-- Containers of runs that ended with an exit code, by what their message and marks say.
-- Grain: one run and container name.
-- Reads: container_states, pod_intervals (all days), active_runs, stage_marks.
-- Parameters: $day_end.
WITH pods AS (
    SELECT cluster, pod_uid, MIN(run_uuid) AS run_uuid
    FROM pod_intervals
    WHERE run_uuid IN (SELECT run_uuid FROM active_runs)
    GROUP BY cluster, pod_uid
),

-- States keep the present and the previous run of a container; both are told by many states.
told AS (
    SELECT
        p.run_uuid, c.cluster, c.pod_uid, c.container, c.exit_code, c.reason, c.message,
        c.finished_at AS ended_at, c.record_id
    FROM container_states AS c
    INNER JOIN pods AS p ON c.cluster = p.cluster AND c.pod_uid = p.pod_uid
    WHERE
        c.container_role IN ('main', 'init') AND c.exit_code <> 0
        AND c.observed_at <= CAST($day_end AS TIMESTAMPTZ)
    UNION ALL
    SELECT
        p.run_uuid, c.cluster, c.pod_uid, c.container, c.last_exit_code, c.last_reason, NULL,
        c.last_finished_at, c.record_id
    FROM container_states AS c
    INNER JOIN pods AS p ON c.cluster = p.cluster AND c.pod_uid = p.pod_uid
    WHERE
        c.container_role IN ('main', 'init') AND c.last_exit_code <> 0
        AND c.observed_at <= CAST($day_end AS TIMESTAMPTZ)
),

marked AS (
    SELECT
        cluster, pod_uid, container,
        MIN(error_type) AS error_type, MIN(record_id, 2) AS record_ids
    FROM stage_marks
    WHERE
        pod_uid IS NOT NULL
        AND REGEXP_MATCHES(error_type, 'ModuleNotFoundError|ImportError')
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
    GROUP BY cluster, pod_uid, container
),

ends AS (
    SELECT
        t.run_uuid, t.cluster, t.container,
        COUNT(DISTINCT [t.pod_uid, CAST(t.ended_at AS VARCHAR)]) AS end_count,
        MIN(t.exit_code) AS exit_code,
        MIN(t.reason) AS reason,
        MIN(t.message) AS message,
        BOOL_OR(
            COALESCE(REGEXP_MATCHES(
                t.message,
                'ModuleNotFoundError|ImportError|No module named|cannot import name|'
                || 'cannot open shared object file'
            ), FALSE)
            OR m.pod_uid IS NOT NULL
        ) AS is_import,
        MIN(m.error_type) AS error_type,
        MIN(t.ended_at) AS first_at,
        MAX(t.ended_at) AS last_at,
        MIN(t.record_id, 8) AS record_ids,
        FLATTEN(LIST(m.record_ids) FILTER (WHERE m.record_ids IS NOT NULL)) AS mark_ids
    FROM told AS t
    LEFT JOIN marked AS m
        ON t.cluster = m.cluster
        AND t.pod_uid = m.pod_uid
        AND COALESCE(m.container, t.container) = t.container
    GROUP BY t.run_uuid, t.cluster, t.container
)

SELECT
    CASE WHEN is_import THEN 'failed_import' ELSE 'failed_container' END AS kind,
    'container' AS activity,
    'exit' AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    cluster,
    run_uuid,
    CAST(NULL AS VARCHAR) AS resource_id,
    container AS subject,
    'container ' || container || ' ended with exit code ' || CAST(exit_code AS VARCHAR)
    || COALESCE(' (' || COALESCE(error_type, reason) || ')', '')
    || COALESCE(': ' || message, '') AS detail,
    first_at,
    last_at,
    end_count AS occurrence_count,
    0 AS lost_us,
    0 AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    CASE WHEN mark_ids IS NULL THEN ['container_states'] ELSE ['container_states', 'stage_marks'] END
        AS sources,
    LIST_CONCAT(record_ids, COALESCE(mark_ids, [])) AS evidence_ids
FROM ends
