-- The stage that a moment lies in, where it is only one. A stage's start is cut off below a second
-- and of another clock: what comes a little before it, and lies in no other, is of it.
-- A sidecar's stage is the pod's only where no other container is there.
-- Grain: one row of stage_input that lies in some stage.
-- Reads: stage_input, stage_hours.
WITH met AS (
    SELECT
        i.item_id, h.stage,
        CASE
            WHEN epoch_us(i.event_at) < h.start_us THEN 2
            WHEN h.container_role = 'sidecar' AND i.container IS NULL THEN 1
            ELSE 0
        END AS place
    FROM stage_input AS i
    INNER JOIN stage_hours AS h
        ON i.cluster = h.cluster
        AND i.pod_uid = h.pod_uid
        AND epoch_us(i.event_at) // 3600000000 = h.hour_bucket
        AND epoch_us(i.event_at) >= h.from_us
        AND epoch_us(i.event_at) < h.until_us
        AND (i.container IS NULL OR i.container = h.container)
),

best AS (
    SELECT
        item_id,
        MIN(place) AS place,
        MIN(CASE WHEN place = 0 THEN stage END) AS stage_of_main,
        MAX(CASE WHEN place = 0 THEN stage END) AS other_of_main,
        MIN(CASE WHEN place = 1 THEN stage END) AS stage_beside,
        MAX(CASE WHEN place = 1 THEN stage END) AS other_beside,
        MIN(CASE WHEN place = 2 THEN stage END) AS stage_next,
        MAX(CASE WHEN place = 2 THEN stage END) AS other_next
    FROM met
    GROUP BY item_id
)

SELECT
    item_id,
    CASE place
        WHEN 0 THEN CASE WHEN stage_of_main = other_of_main THEN stage_of_main END
        WHEN 1 THEN CASE WHEN stage_beside = other_beside THEN stage_beside END
        ELSE CASE WHEN stage_next = other_next THEN stage_next END
    END AS stage
FROM best
