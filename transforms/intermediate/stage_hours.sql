-- Stages in which something of a pod runs, cut into hours, of the pods asked for.
-- Grain: one stage, hour.
-- Reads: stages, stage_input.
-- Parameters: $guard_us (skew guard).
WITH bounds AS (
    SELECT MIN(epoch_us(event_at)) AS from_us, MAX(epoch_us(event_at)) + 1 AS until_us
    FROM stage_input
),

-- A stage that crosses midnight is told on each day, at last with its end.
told AS (
    SELECT
        s.cluster, s.pod_uid, s.container, s.container_role, s.stage, s.date,
        epoch_us(s.start_at) AS start_us,
        -- A day speaks up to its end.
        epoch_us(COALESCE(s.end_at, CAST(s.date + 1 AS TIMESTAMPTZ))) AS end_us
    FROM stages AS s
    WHERE
        s.container IS NOT NULL
        AND s.stage IN ('init', 'startup', 'download', 'compute', 'interactive', 'upload', 'teardown')
        AND s.pod_uid IN (SELECT pod_uid FROM stage_input)
),

newest AS (
    SELECT
        cluster, pod_uid, container, start_us,
        MIN(container_role) AS container_role,
        ARG_MAX(stage, {'us': end_us, 'date': date, 'stage': stage}) AS stage,
        MAX(end_us) AS end_us
    FROM told
    GROUP BY cluster, pod_uid, container, start_us
),

bounded AS (
    SELECT
        n.cluster, n.pod_uid, n.container, n.container_role, n.stage,
        n.start_us,
        GREATEST(n.start_us - CAST($guard_us AS BIGINT), b.from_us) AS from_us,
        LEAST(n.end_us, b.until_us) AS until_us
    FROM newest AS n
    CROSS JOIN bounds AS b
)

SELECT
    *,
    UNNEST(RANGE(from_us // 3600000000, (until_us - 1) // 3600000000 + 1)) AS hour_bucket
FROM bounded
WHERE until_us > from_us
