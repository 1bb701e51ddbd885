-- Clients at the time of their requests, with the pod to which their credentials were given, to be
-- matched to pods of any cluster.
-- Grain: address, credential that was given to one pod, time.
-- Reads: transfer_requests, transfer_credentials, transfer_identities.
WITH clients AS (
    SELECT DISTINCT r.client_address, c.credential_number, r.event_us
    FROM transfer_requests AS r
    LEFT JOIN transfer_credentials AS c
        ON r.access_key_id_hash IS NOT DISTINCT FROM c.access_key_id_hash
        AND r.session_arn IS NOT DISTINCT FROM c.session_arn
)

SELECT DISTINCT
    {'address': k.client_address, 'pod_uid': i.pod_uid, 'event_us': k.event_us} AS item_id,
    CAST(NULL AS VARCHAR) AS cluster,
    k.client_address AS address,
    i.namespace,
    i.pod_name,
    i.pod_uid,
    make_timestamptz(k.event_us) AS event_at
FROM clients AS k
LEFT JOIN (
    SELECT credential_number, event_us, given_pods[1] AS pod_uid, namespace, pod_name
    FROM transfer_identities
    WHERE LEN(given_pods) = 1
) AS i ON k.credential_number = i.credential_number AND k.event_us = i.event_us
WHERE k.client_address IS NOT NULL OR i.pod_uid IS NOT NULL
