-- Requests to image registries, to be matched to the pods that asked.
-- Grain: one request of one log.
-- Reads: balance_asked.
SELECT item_id, cluster, address, namespace, pod_name, pod_uid, event_at
FROM balance_asked
