-- Transfers of a pod at their beginning, to be matched to containers.
-- Grain: pod, time.
-- Reads: transfer_bursts.
SELECT DISTINCT
    {'pod_uid': pod_uid, 'began_us': began_us} AS item_id,
    pod_uid,
    make_timestamptz(began_us) AS event_at
FROM transfer_bursts
WHERE pod_uid IS NOT NULL
