-- The container that ran at a moment, where it was the only one.
-- Grain: one row of container_input of whose pod a container ran then, or before if the thing may
-- have begun earlier.
-- Reads: container_input, container_hours, container_states.
-- Parameters: $guard_us (skew guard).
WITH earliest AS (
    SELECT
        pod_uid,
        container,
        MIN(container_role) AS container_role,
        MIN(
            CASE
                WHEN started_at IS NOT NULL OR last_started_at IS NOT NULL
                    THEN epoch_us(LEAST(started_at, last_started_at))
                -- Seen waiting, it may have started since.
                WHEN state IN ('waiting', 'unknown') THEN epoch_us(observed_at)
                ELSE 0
            END
        ) AS start_us
    FROM container_states
    WHERE pod_uid IN (SELECT pod_uid FROM container_input WHERE NOT is_begin)
    GROUP BY pod_uid, container
),

possible AS (
    SELECT i.item_id, h.container, h.container_role
    FROM container_input AS i
    INNER JOIN container_hours AS h
        ON i.pod_uid = h.pod_uid
        AND epoch_us(i.event_at) // 3600000000 = h.hour_bucket
        AND epoch_us(i.event_at) >= h.from_us
        AND epoch_us(i.event_at) < h.until_us
    UNION ALL
    SELECT i.item_id, e.container, e.container_role
    FROM container_input AS i
    INNER JOIN earliest AS e
        ON i.pod_uid = e.pod_uid
        AND epoch_us(i.event_at) + CAST($guard_us AS BIGINT) >= e.start_us
    WHERE NOT i.is_begin
),

running AS (
    SELECT
        item_id,
        LIST_SORT(LIST(DISTINCT container)) AS containers,
        MIN(container_role) AS container_role
    FROM possible
    GROUP BY item_id
)

SELECT
    item_id,
    CASE WHEN LEN(containers) = 1 THEN containers[1] END AS container,
    CASE WHEN LEN(containers) = 1 THEN container_role END AS container_role,
    CASE WHEN LEN(containers) = 1 THEN 'only_running' ELSE 'several' END AS container_kind,
    CASE WHEN LEN(containers) > 1 THEN containers END AS candidate_containers
FROM running
