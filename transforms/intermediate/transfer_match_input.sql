-- Clients at the time of their requests, to be matched to pods of any cluster.
-- Grain: cluster (where the export names one), address, time.
-- Reads: transfer_requests.
SELECT DISTINCT
    {'cluster': cluster, 'address': client_address, 'event_us': event_us} AS item_id,
    cluster,
    client_address AS address,
    CAST(NULL AS VARCHAR) AS namespace,
    CAST(NULL AS VARCHAR) AS pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    make_timestamptz(event_us) AS event_at
FROM transfer_requests
WHERE client_address IS NOT NULL
