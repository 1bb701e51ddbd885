-- Runs of containers: from one start to its end, with the best proof of both.
-- States keep the current run and the one before; events of starts tell of others.
-- Grain: one run of one container.
-- Reads: container_states, stage_pods, stage_containers, stage_events, stage_lives.
-- Parameters: $cluster.
WITH stated AS (
    SELECT
        pod_uid, container,
        epoch_us(COALESCE(started_at, finished_at)) AS start_us,
        epoch_us(finished_at) AS end_us,
        CASE WHEN state = 'running' THEN epoch_us(observed_at) END AS running_us,
        restart_count,
        CASE WHEN state = 'terminated' THEN exit_code END AS exit_code,
        CASE WHEN state = 'terminated' THEN reason END AS reason,
        CASE WHEN state = 'terminated' THEN message END AS message
    FROM container_states
    WHERE cluster = $cluster AND (started_at IS NOT NULL OR finished_at IS NOT NULL)
    UNION ALL
    SELECT
        pod_uid, container,
        epoch_us(last_started_at) AS start_us,
        epoch_us(last_finished_at) AS end_us,
        CAST(NULL AS BIGINT) AS running_us,
        -- A container that waits to be started again counts the coming restart already.
        CASE WHEN state = 'waiting' THEN restart_count ELSE restart_count - 1 END AS restart_count,
        last_exit_code AS exit_code,
        last_reason AS reason,
        CAST(NULL AS VARCHAR) AS message
    FROM container_states
    WHERE cluster = $cluster AND last_started_at IS NOT NULL
),

by_start AS (
    SELECT
        pod_uid, container, start_us,
        MAX(end_us) AS end_us,
        MAX(running_us) AS running_us,
        MIN(restart_count) FILTER (WHERE restart_count >= 0) AS restart_count,
        MIN(exit_code) AS exit_code,
        MIN(reason) AS reason,
        MIN(message) AS message
    FROM stated
    WHERE pod_uid IN (SELECT pod_uid FROM stage_pods)
    GROUP BY pod_uid, container, start_us
),

started AS (
    SELECT DISTINCT pod_uid, container, start_us
    FROM (
        SELECT pod_uid, container, first_us AS start_us FROM stage_events WHERE kind = 'started'
        UNION ALL
        SELECT pod_uid, container, last_us AS start_us FROM stage_events WHERE kind = 'started'
    )
    WHERE container IS NOT NULL
),

runs AS (
    SELECT *, 'terminated' AS start_basis FROM by_start
    UNION ALL
    SELECT
        e.pod_uid, e.container, e.start_us,
        CAST(NULL AS BIGINT) AS end_us,
        CAST(NULL AS BIGINT) AS running_us,
        CAST(NULL AS BIGINT) AS restart_count,
        CAST(NULL AS BIGINT) AS exit_code,
        CAST(NULL AS VARCHAR) AS reason,
        CAST(NULL AS VARCHAR) AS message,
        'event' AS start_basis
    FROM started AS e
    -- Events and states are of one node; both cut off what is below a second.
    WHERE NOT EXISTS (
        SELECT 1
        FROM by_start AS s
        WHERE
            s.pod_uid = e.pod_uid AND s.container = e.container
            AND ABS(s.start_us - e.start_us) <= 2000000
    )
),

killed AS (
    SELECT pod_uid, container, first_us AS killed_us FROM stage_events WHERE kind = 'killing'
    UNION
    SELECT pod_uid, container, last_us AS killed_us FROM stage_events WHERE kind = 'killing'
),

sequenced AS (
    SELECT
        r.*,
        LEAD(r.start_us) OVER runs_of_container AS next_start_us,
        ROW_NUMBER() OVER runs_of_container AS place
    FROM runs AS r
    WINDOW runs_of_container AS (PARTITION BY r.pod_uid, r.container ORDER BY r.start_us)
),

with_kills AS (
    SELECT
        s.pod_uid, s.container, s.start_us,
        MIN(k.killed_us) AS killed_us
    FROM sequenced AS s
    INNER JOIN killed AS k
        ON s.pod_uid = k.pod_uid
        AND (s.container = k.container OR k.container IS NULL)
        AND k.killed_us >= s.start_us
        AND (s.next_start_us IS NULL OR k.killed_us < s.next_start_us)
    GROUP BY s.pod_uid, s.container, s.start_us
)

SELECT
    s.pod_uid, s.container, c.container_role, c.ordinal, s.place,
    s.start_us, s.start_basis, s.next_start_us, s.restart_count, s.exit_code, s.reason, s.message,
    s.next_start_us IS NULL AS is_last,
    -- The kubelet starts a container again after what it waits for; the pod's end ends all.
    CASE
        WHEN s.end_us IS NOT NULL THEN GREATEST(s.end_us, s.start_us)
        WHEN k.killed_us IS NOT NULL THEN k.killed_us
        WHEN s.next_start_us IS NOT NULL
            THEN LEAST(GREATEST(s.start_us, s.running_us), s.next_start_us)
        WHEN p.end_us IS NOT NULL THEN GREATEST(p.end_us, s.start_us)
        WHEN c.container_role = 'main' AND p.done_us >= s.start_us THEN p.done_us
        ELSE GREATEST(p.alive_us, s.start_us, s.running_us)
    END AS end_us,
    CASE
        WHEN s.end_us IS NOT NULL THEN 'terminated'
        WHEN k.killed_us IS NOT NULL THEN 'event'
        WHEN s.next_start_us IS NOT NULL THEN 'last_seen'
        WHEN p.end_us IS NOT NULL THEN p.end_basis
        WHEN c.container_role = 'main' AND p.done_us >= s.start_us THEN 'polyaxon'
        ELSE 'last_seen'
    END AS end_basis,
    s.end_us IS NOT NULL OR k.killed_us IS NOT NULL AS is_end_proven
FROM sequenced AS s
INNER JOIN stage_containers AS c ON s.pod_uid = c.pod_uid AND s.container = c.container
INNER JOIN stage_lives AS p ON s.pod_uid = p.pod_uid
LEFT JOIN with_kills AS k
    ON s.pod_uid = k.pod_uid AND s.container = k.container AND s.start_us = k.start_us
