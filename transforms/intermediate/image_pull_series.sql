-- One event over all its repetitions, with its pod and how often it came by and on the day.
-- Grain: one series.
-- Reads: image_pull_states, match_output, pod_intervals (for the newest facts of a pod).
-- Parameters: $day_start, $day_end.
WITH pods AS (
    SELECT pod_uid, node, run_uuid, attempt
    FROM pod_intervals
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY pod_uid ORDER BY date DESC, start_at DESC, pod_interval_id
    ) = 1
),

counted AS (
    SELECT
        series_id, namespace, pod_name, pod_uid, container, kind, image, message,
        MIN(first_at) AS first_at,
        MAX(last_at) AS last_at,
        MIN(node) AS node,
        MAX(stated_us) AS stated_us,
        MAX(including_waiting_us) AS including_waiting_us,
        MAX(image_bytes) AS image_bytes,
        MAX(COALESCE(event_count, 1))
            FILTER (WHERE last_at < CAST($day_start AS TIMESTAMPTZ)) AS count_before,
        MAX(COALESCE(event_count, 1))
            FILTER (WHERE last_at < CAST($day_end AS TIMESTAMPTZ)) AS count_until
    FROM image_pull_states
    GROUP BY ALL
)

SELECT
    c.series_id, c.namespace, c.pod_name,
    COALESCE(c.pod_uid, m.pod_uid) AS pod_uid,
    c.container,
    COALESCE(c.node, p.node) AS node,
    p.run_uuid,
    p.attempt,
    c.kind, c.image, c.message, c.first_at, c.last_at, c.stated_us, c.including_waiting_us,
    c.image_bytes,
    -- How often on the day. Null where the day's part of a longer count is not known: then only
    -- the times that states show are counted.
    CASE
        WHEN c.first_at >= CAST($day_start AS TIMESTAMPTZ) THEN c.count_until
        WHEN c.count_before IS NOT NULL THEN GREATEST(c.count_until - c.count_before, 0)
    END AS day_count
FROM counted AS c
LEFT JOIN match_output AS m ON c.series_id = m.item_id
LEFT JOIN pods AS p ON COALESCE(c.pod_uid, m.pod_uid) = p.pod_uid
