-- Requests to object storage as attempts, with the pod and container of the transfer that they are
-- part of.
-- Grain: one request of one pod.
-- Reads: transfer_requests, object_transfers.
WITH transfers AS (
    SELECT
        transfer_id, provider, bucket, key, version_id, operation, client_address, principal,
        user_agent, is_complete, cluster, pod_uid, run_uuid, attempt, container, container_kind,
        container_role, match_kind, resource_id,
        epoch_us(start_at) AS start_us,
        epoch_us(end_at) AS end_us
    FROM object_transfers
    WHERE pod_uid IS NOT NULL
),

timed AS (
    SELECT
        *,
        CAST(
            ROUND(LEAST(GREATEST(COALESCE(duration_seconds, 0), 0), 604800) * 1000000) AS BIGINT
        ) AS duration_us
    FROM transfer_requests
)

SELECT
    r.record_id,
    r.event_us,
    -- These formats stamp a request when it was answered.
    CASE WHEN r.answered_us > r.event_us THEN r.event_us ELSE r.event_us - r.duration_us END
        AS begin_us,
    r.answered_us AS end_us,
    r.outcome, r.status, r.failure, r.operation,
    CASE WHEN r.outcome = 'success' THEN r.moved_bytes END AS moved_bytes,
    t.transfer_id, t.cluster, t.pod_uid, t.run_uuid, t.attempt, t.container, t.container_kind,
    t.container_role, t.match_kind, t.resource_id
FROM timed AS r
INNER JOIN transfers AS t
    ON r.provider = t.provider
    AND r.bucket = t.bucket
    AND r.key IS NOT DISTINCT FROM t.key
    AND r.version_id IS NOT DISTINCT FROM t.version_id
    AND r.operation = t.operation
    AND r.client_address IS NOT DISTINCT FROM t.client_address
    AND r.principal IS NOT DISTINCT FROM t.principal
    AND r.user_agent IS NOT DISTINCT FROM t.user_agent
    AND r.is_complete = t.is_complete
    AND r.event_us >= t.start_us
    AND r.event_us <= t.end_us
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY r.record_id, r.event_us, r.operation, r.status, r.key
    ORDER BY t.end_us - t.start_us, t.transfer_id
) = 1
