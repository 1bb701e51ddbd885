-- Bytes that pods themselves moved from and to image registries, by the registries' logs. A registry
-- may write one request to several logs: the fullest of a pod and hour counts.
-- Grain: pod, direction, hour.
-- Reads: balance_asked, match_output.
WITH by_log AS (
    SELECT
        m.pod_uid, a.direction, a.provider, a.log_kind,
        epoch_us(a.event_at) // 3600000000 AS hour_number,
        SUM(a.bytes) AS bytes
    FROM balance_asked AS a
    INNER JOIN match_output AS m ON a.item_id = m.item_id
    WHERE m.pod_uid IS NOT NULL
    GROUP BY ALL
),

fullest AS (
    SELECT pod_uid, direction, provider, hour_number, MAX(bytes) AS bytes
    FROM by_log
    GROUP BY pod_uid, direction, provider, hour_number
)

SELECT pod_uid, direction, hour_number, SUM(bytes) AS registry_bytes
FROM fullest
GROUP BY pod_uid, direction, hour_number
