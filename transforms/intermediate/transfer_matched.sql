-- Requests with who made them, and of which dealings they are.
-- Grain: one request.
-- Reads: transfer_requests, transfer_groups, match_output.
-- Parameters: $start_us (start of the day).
SELECT
    r.record_id,
    r.event_us,
    r.answered_us,
    r.etag,
    r.status,
    r.outcome,
    r.failure,
    r.moved_bytes,
    r.response_bytes,
    r.object_size_bytes,
    r.is_complete,
    r.bucket_region,
    r.endpoint,
    r.vpc_endpoint_id,
    r.duration_seconds,
    r.event_us >= CAST($start_us AS BIGINT) AS is_today,
    g.group_number,
    m.cluster,
    m.namespace,
    m.pod_name,
    m.pod_uid,
    m.node,
    CASE WHEN m.pod_uid IS NOT NULL THEN m.run_uuid END AS run_uuid,
    m.attempt,
    COALESCE(m.match_kind, 'none') AS match_kind,
    m.candidate_pod_uids,
    -- An address that comes to mean another pod is another client.
    MD5(CONCAT_WS(
        '/', m.match_kind, m.cluster, m.pod_uid, m.node,
        ARRAY_TO_STRING(m.candidate_pod_uids, ',')
    )) AS holder
FROM transfer_requests AS r
INNER JOIN transfer_groups AS g
    ON r.provider = g.provider
    AND r.bucket_id = g.bucket_id
    AND r.bucket = g.bucket
    AND r.key IS NOT DISTINCT FROM g.key
    AND r.version_id IS NOT DISTINCT FROM g.version_id
    AND r.operation = g.operation
    AND r.client_address IS NOT DISTINCT FROM g.client_address
    AND r.principal IS NOT DISTINCT FROM g.principal
    AND r.user_agent IS NOT DISTINCT FROM g.user_agent
LEFT JOIN match_output AS m
    ON r.client_address = m.item_id.address AND r.event_us = m.item_id.event_us
