-- When each container of the pods asked for ran, cut into hours, within the time asked for.
-- Grain: one run of a container, hour.
-- Reads: container_states, container_input.
-- Parameters: $guard_us (skew guard).
WITH bounds AS (
    SELECT MIN(epoch_us(event_at)) AS from_us, MAX(epoch_us(event_at)) + 1 AS until_us
    FROM container_input
),

stated AS (
    SELECT
        pod_uid, container, container_role,
        epoch_us(started_at) AS start_us,
        epoch_us(finished_at) AS end_us
    FROM container_states
    WHERE started_at IS NOT NULL OR state = 'running' OR finished_at IS NOT NULL
    UNION ALL
    -- It ran before it was seen terminated, whenever that was.
    SELECT
        pod_uid, container, container_role,
        CAST(NULL AS BIGINT) AS start_us,
        epoch_us(observed_at) AS end_us
    FROM container_states
    WHERE state = 'terminated' AND started_at IS NULL AND finished_at IS NULL
    UNION ALL
    SELECT
        pod_uid, container, container_role,
        epoch_us(last_started_at) AS start_us,
        epoch_us(last_finished_at) AS end_us
    FROM container_states
    WHERE last_started_at IS NOT NULL
),

ran AS (
    SELECT
        pod_uid,
        container,
        MIN(container_role) AS container_role,
        start_us,
        MAX(end_us) AS end_us
    FROM stated
    WHERE pod_uid IN (SELECT pod_uid FROM container_input)
    GROUP BY pod_uid, container, start_us
),

-- A container last seen waiting, of which no later run is told, may have started since.
waited AS (
    SELECT
        pod_uid, container,
        MIN(container_role) AS container_role,
        MAX(epoch_us(observed_at)) AS start_us
    FROM container_states
    WHERE
        state IN ('waiting', 'unknown') AND started_at IS NULL
        AND pod_uid IN (SELECT pod_uid FROM container_input)
    GROUP BY pod_uid, container
),

possible AS (
    SELECT pod_uid, container, container_role, start_us, end_us FROM ran
    UNION ALL
    SELECT
        w.pod_uid, w.container, w.container_role, w.start_us, CAST(NULL AS BIGINT) AS end_us
    FROM waited AS w
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM ran AS r
            WHERE
                r.pod_uid = w.pod_uid AND r.container = w.container
                AND (r.start_us IS NULL OR r.start_us >= w.start_us OR r.end_us >= w.start_us)
        )
),

bounded AS (
    SELECT
        r.pod_uid,
        r.container,
        r.container_role,
        GREATEST(
            COALESCE(r.start_us, b.from_us) - CAST($guard_us AS BIGINT), b.from_us
        ) AS from_us,
        LEAST(
            COALESCE(
                r.end_us,
                LEAD(r.start_us) OVER (PARTITION BY r.pod_uid, r.container ORDER BY r.start_us),
                b.until_us
            ) + CAST($guard_us AS BIGINT),
            b.until_us
        ) AS until_us
    FROM possible AS r
    CROSS JOIN bounds AS b
)

SELECT
    *,
    UNNEST(RANGE(from_us // 3600000000, (until_us - 1) // 3600000000 + 1)) AS hour_bucket
FROM bounded
WHERE until_us > from_us
