-- Connections of the day with the host that they went to and who owns their bytes.
-- Grain: one connection.
-- Reads: connections.
-- Parameters: $date, $day_start, $day_end.
SELECT
    connection_id,
    cluster,
    COALESCE('pod ' || initiator_pod_uid, 'address ' || initiator_address) AS owner_key,
    COALESCE('pod ' || responder_pod_uid, 'address ' || responder_address) AS server_key,
    initiator_address,
    initiator_port,
    responder_address,
    responder_port,
    transport,
    initiator_pod_uid AS pod_uid,
    run_uuid,
    attempt,
    container_role,
    stage,
    resource_id,
    -- Inside the cluster the resource names the service; a host name would only split its rows.
    CASE
        WHEN STARTS_WITH(resource_id, 'ip://[')
            THEN REGEXP_EXTRACT(resource_id, '^ip://\[([^\]]*)\]', 1)
        WHEN STARTS_WITH(resource_id, 'ip://') OR STARTS_WITH(resource_id, 'dns://')
            THEN REGEXP_EXTRACT(resource_id, '^[a-z]+://(.*?)(?::[0-9]+(?:/[a-z]+)?)?$', 1)
    END AS endpoint,
    CASE SPLIT_PART(resource_id, '://', 1)
        WHEN 'dns' THEN 'host' WHEN 'ip' THEN 'address' WHEN 'kube' THEN 'service'
        WHEN 'node' THEN 'node' ELSE 'unknown'
    END AS resource_kind,
    GREATEST(start_at, CAST($day_start AS TIMESTAMPTZ)) AS first_at,
    LEAST(
        COALESCE(end_at, CAST($day_end AS TIMESTAMPTZ)), CAST($day_end AS TIMESTAMPTZ)
    ) AS last_at,
    initiator_match_kind AS match_kind,
    name_kind,
    start_at >= CAST($day_start AS TIMESTAMPTZ) AND NOT opened_before AS is_started,
    attempt_count,
    http_error_count,
    first_error,
    COALESCE(verdict = 'DROPPED', FALSE) AS is_dropped,
    -- Drops by the L7 proxy have no reason (reference: they are always a policy's).
    drop_reason IS NULL
    OR STARTS_WITH(drop_reason, 'POLICY_DEN')
    OR drop_reason = 'AUTH_REQUIRED'
    OR COALESCE(LEN(denied_by), 0) > 0 AS is_policy
FROM connections
WHERE date = CAST($date AS DATE)
