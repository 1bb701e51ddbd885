-- Parts of stages on the day, with the cause that they have by themselves (definitions.md 43).
-- `is_painted`: evidence of what happened in it goes before that cause. `account`: whose account the
-- pod's GPUs stand to (definitions.md 44), the pod as a whole (0), an init container (1) or a main
-- one (2); null before the pod is bound, and of all else.
-- Grain: one stage.
-- Reads: stages, runs_of_day, pod_intervals.
-- Parameters: $date, $day_start, $day_end.
WITH pods AS (
    SELECT cluster, pod_uid, MAX(gpu_count) AS gpu_count, MIN(project) AS project
    FROM pod_intervals
    WHERE date = CAST($date AS DATE)
    GROUP BY cluster, pod_uid
)

SELECT
    s.stage_id, s.cluster, s.run_uuid, s.attempt,
    COALESCE(r.project, p.project) AS project,
    s.namespace, s.pod_name, s.pod_uid, s.node, s.container, s.container_role, s.stage, s.step,
    epoch_us(GREATEST(s.start_at, CAST($day_start AS TIMESTAMPTZ))) AS start_us,
    epoch_us(COALESCE(s.end_at, CAST($day_end AS TIMESTAMPTZ))) AS end_us,
    CASE
        WHEN s.stage IN ('admission', 'queued', 'scheduling') THEN 'placement'
        WHEN s.stage = 'volume_mount' THEN 'volume'
        WHEN s.stage IN ('sandbox', 'image_pull', 'upload') THEN s.stage
        WHEN s.stage IN ('teardown', 'compute', 'interactive') THEN 'working'
        WHEN s.stage IN ('init', 'startup') AND s.step = 'back_off' THEN 'retry'
        WHEN s.stage = 'unknown' AND s.reason = 'Retry' THEN 'retry'
        -- Marks alone make a download.
        WHEN s.stage = 'download' THEN 'transfer'
        ELSE 'unexplained'
    END AS own_cause,
    s.resource_id,
    CASE WHEN s.reason IS NOT NULL THEN COALESCE(s.message, s.reason) END AS own_error,
    s.pod_uid IS NOT NULL
    AND s.stage IN ('init', 'startup', 'download', 'upload')
    AND s.step IS NULL AS is_painted,
    CASE
        WHEN s.pod_uid IS NULL THEN NULL
        WHEN s.container_role = 'init' THEN 1
        WHEN s.container_role = 'main' THEN 2
        WHEN s.container IS NOT NULL OR s.stage IN ('admission', 'scheduling') THEN NULL
        WHEN s.stage = 'unknown' AND s.start_basis = 'created' THEN NULL
        ELSE 0
    END AS account,
    p.gpu_count
FROM stages AS s
LEFT JOIN pods AS p ON s.cluster = p.cluster AND s.pod_uid = p.pod_uid
LEFT JOIN runs_of_day AS r ON s.run_uuid = r.run_uuid
WHERE s.date = CAST($date AS DATE)
