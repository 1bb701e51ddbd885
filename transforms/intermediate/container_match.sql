-- The container that ran at a moment, where it was the only one.
-- Grain: one row of container_input of whose pod a container ran then.
-- Reads: container_input, container_hours.
WITH running AS (
    SELECT
        i.item_id,
        LIST_SORT(LIST(DISTINCT h.container)) AS containers,
        MIN(h.container_role) AS container_role
    FROM container_input AS i
    INNER JOIN container_hours AS h
        ON i.pod_uid = h.pod_uid
        AND epoch_us(i.event_at) // 3600000000 = h.hour_bucket
        AND epoch_us(i.event_at) >= h.from_us
        AND epoch_us(i.event_at) < h.until_us
    GROUP BY i.item_id
)

SELECT
    item_id,
    CASE WHEN LEN(containers) = 1 THEN containers[1] END AS container,
    CASE WHEN LEN(containers) = 1 THEN container_role END AS container_role,
    CASE WHEN LEN(containers) = 1 THEN 'only_running' ELSE 'several' END AS container_kind,
    CASE WHEN LEN(containers) > 1 THEN containers END AS candidate_containers
FROM running
