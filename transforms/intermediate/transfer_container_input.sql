-- Requests of the day by pods, to be matched to containers.
-- Grain: pod, time.
-- Reads: transfer_matched, container_states.
SELECT
    {'pod_uid': pod_uid, 'event_us': event_us} AS item_id,
    pod_uid,
    make_timestamptz(event_us) AS event_at,
    TRUE AS is_begin
FROM transfer_matched
WHERE is_today AND pod_uid IN (SELECT pod_uid FROM container_states)
GROUP BY pod_uid, event_us
