-- Look-ups to be matched to containers.
-- Grain: pod and second.
-- Reads: attempt_lookups.
SELECT DISTINCT
    {'pod_uid': pod_uid, 'second': end_us // 1000000} AS item_id,
    pod_uid,
    make_timestamptz((end_us // 1000000) * 1000000) AS event_at,
    TRUE AS is_begin
FROM attempt_lookups
