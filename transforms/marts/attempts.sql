-- What pods tried, and how it went.
-- `outcome`: ok, denied, credentials, throttled, failed. `error_class` is null where it went well.
-- Grain: one attempt.
-- Reads: attempt_requests, attempt_wanted, attempt_replies, attempt_lookups, container_output.
WITH asked AS (
    SELECT
        c.*,
        c.transport = 'TCP' AND NOT c.has_reply
        AND (c.attempt_count > 1 OR COALESCE(q.is_repeated, FALSE)) AS is_unanswered
    FROM attempt_wanted AS c
    LEFT JOIN attempt_replies AS q ON c.connection_id = q.connection_id
)

SELECT
    cluster, pod_uid, run_uuid, attempt, container, container_role, container_kind, match_kind,
    resource_id,
    'object_access' AS activity,
    begin_us, GREATEST(end_us, begin_us) AS end_us,
    CASE
        WHEN outcome IN ('success', 'other', 'not_found') THEN 'ok'
        WHEN outcome = 'denied' AND (status = 401 OR is_refused_credential(failure))
            THEN 'credentials'
        WHEN outcome = 'denied' THEN 'denied'
        WHEN outcome = 'throttled' THEN 'throttled'
        ELSE 'failed'
    END AS outcome,
    CASE
        WHEN outcome IN ('success', 'other') THEN NULL
        WHEN outcome = 'not_found' THEN 'not_found'
        WHEN outcome = 'denied' AND (status = 401 OR is_refused_credential(failure))
            THEN 'credentials'
        WHEN outcome = 'denied' THEN 'forbidden'
        WHEN outcome = 'throttled' THEN 'throttled'
        WHEN status >= 500 THEN 'server_error'
        WHEN status = 408 OR failure LIKE '%Timeout%' THEN 'timeout'
        ELSE 'other'
    END AS error_class,
    failure AS error,
    status,
    CAST([] AS VARCHAR[]) AS denied_by,
    moved_bytes,
    transfer_id AS evidence_id,
    record_id AS order_id,
    'object_requests' AS source,
    FALSE AS is_gate
FROM attempt_requests
UNION ALL
SELECT
    w.cluster, w.pod_uid, w.run_uuid, w.attempt, w.container, w.container_role, w.container_kind,
    w.match_kind, w.resource_id,
    'connect' AS activity,
    w.begin_us,
    -- The moment at which it was known how the attempt went. What was never answered lasts to the
    -- last packet: nothing tells when its client gave up. What was asked for shortly before midnight
    -- may be answered behind it.
    GREATEST(
        CASE
            WHEN w.is_dropped OR r.is_refused THEN w.end_us
            WHEN
                w.is_open AND NOT w.has_reply AND NOT w.is_unanswered
                AND w.end_us - COALESCE(r.last_us, w.begin_us) < 300000000
                THEN w.end_us
            WHEN NOT w.has_reply THEN COALESCE(r.last_us, w.end_us)
            ELSE COALESCE(r.reply_us, w.begin_us)
        END,
        w.begin_us
    ) AS end_us,
    CASE
        WHEN w.is_denied THEN 'denied'
        WHEN w.is_dropped OR r.is_refused OR w.is_unanswered
            THEN 'failed'
        ELSE 'ok'
    END AS outcome,
    CASE
        WHEN w.is_denied THEN 'policy_drop'
        WHEN w.is_dropped OR r.is_refused OR w.is_unanswered
            THEN 'connection_failure'
    END AS error_class,
    CASE
        WHEN w.is_dropped THEN COALESCE(w.drop_reason, w.first_error, 'DROPPED')
        WHEN r.is_refused THEN 'connection refused'
        WHEN w.is_unanswered THEN 'no reply'
    END AS error,
    CAST(NULL AS BIGINT) AS status,
    COALESCE(w.denied_by, []) AS denied_by,
    CAST(NULL AS BIGINT) AS moved_bytes,
    w.connection_id AS evidence_id,
    w.connection_id AS order_id,
    'connections' AS source,
    w.is_gate
FROM asked AS w
LEFT JOIN attempt_replies AS r ON w.connection_id = r.connection_id
UNION ALL
SELECT
    l.cluster, l.pod_uid, l.run_uuid, l.attempt, c.container, c.container_role,
    COALESCE(c.container_kind, 'none') AS container_kind,
    l.match_kind,
    'dns://' || l.query_name AS resource_id,
    'resolve' AS activity,
    l.begin_us, l.end_us,
    CASE WHEN l.outcome = 'ok' THEN 'ok' ELSE 'failed' END AS outcome,
    CASE
        WHEN l.outcome = 'ok' OR l.is_suffixed THEN NULL
        WHEN l.outcome = 'timeout' THEN 'timeout'
        ELSE 'name_failure'
    END AS error_class,
    CASE WHEN l.outcome <> 'ok' THEN COALESCE(l.rcode, 'no response') END AS error,
    CAST(NULL AS BIGINT) AS status,
    CAST([] AS VARCHAR[]) AS denied_by,
    CAST(NULL AS BIGINT) AS moved_bytes,
    l.record_id AS evidence_id,
    l.record_id AS order_id,
    'dns_lookups' AS source,
    FALSE AS is_gate
FROM attempt_lookups AS l
LEFT JOIN container_output AS c
    ON l.pod_uid = c.item_id.pod_uid AND l.end_us // 1000000 = c.item_id.second
