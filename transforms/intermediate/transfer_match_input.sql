-- Clients at the time of their requests, to be matched to pods of any cluster.
-- Grain: address, time.
-- Reads: transfer_requests.
SELECT
    {'address': client_address, 'event_us': event_us} AS item_id,
    CAST(NULL AS VARCHAR) AS cluster,
    client_address AS address,
    CAST(NULL AS VARCHAR) AS namespace,
    CAST(NULL AS VARCHAR) AS pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    make_timestamptz(event_us) AS event_at
FROM transfer_requests
WHERE client_address IS NOT NULL
GROUP BY client_address, event_us
