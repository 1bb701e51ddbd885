-- Connections that pods began, from a day before on, with what they went to.
-- Grain: one connection.
-- Reads: connections, run_dependency_days, attempt_pods.
-- Parameters: $date, $day_end.
WITH gates AS (
    -- Token and metadata endpoints, by the catalogue.
    SELECT DISTINCT resource_id
    FROM run_dependency_days
    WHERE
        date = CAST($date AS DATE) AND operation = 'connect'
        AND endpoint_kind IN ('auth', 'metadata')
),

logged AS (
    SELECT DISTINCT run_uuid, resource_id
    FROM run_dependency_days
    WHERE
        date = CAST($date AS DATE) AND operation = 'connect' AND accounted_in IS NOT NULL
        AND run_uuid IS NOT NULL
),

-- A log without answers names a connection only right behind the look-up; what is tried again
-- later, at the same address, is tried at the same place.
names AS (
    SELECT
        cluster, initiator_pod_uid AS pod_uid, responder_address, responder_port,
        MIN(resource_id) AS resource_id
    FROM connections
    WHERE
        initiator_pod_uid IS NOT NULL AND NOT opened_before AND resource_id NOT LIKE 'ip://%'
    GROUP BY cluster, initiator_pod_uid, responder_address, responder_port
    HAVING MIN(resource_id) = MAX(resource_id)
),

-- A connection of several days: the newest that tells of it knows most.
newest AS (
    SELECT connection_id, MAX(date) AS date
    FROM connections
    WHERE initiator_pod_uid IS NOT NULL AND NOT opened_before
    GROUP BY connection_id
    HAVING COUNT(*) > 1
),

placed AS (
    SELECT
        c.* REPLACE (
            CASE WHEN c.resource_id LIKE 'ip://%' THEN COALESCE(n.resource_id, c.resource_id)
                ELSE c.resource_id END AS resource_id
        )
    FROM connections AS c
    LEFT JOIN newest AS t ON c.connection_id = t.connection_id
    LEFT JOIN names AS n
        ON c.cluster = n.cluster
        AND c.initiator_pod_uid = n.pod_uid
        AND c.responder_address = n.responder_address
        AND c.responder_port IS NOT DISTINCT FROM n.responder_port
    WHERE
        c.initiator_pod_uid IS NOT NULL
        AND NOT c.opened_before
        AND COALESCE(c.date = t.date, TRUE)
)

SELECT
    c.connection_id, c.cluster, c.initiator_pod_uid AS pod_uid, c.run_uuid, c.attempt, c.transport,
    c.initiator_address, c.initiator_port, c.responder_address, c.responder_port, c.resource_id,
    c.container, c.container_kind, c.container_role, c.initiator_match_kind AS match_kind,
    c.verdict, c.drop_reason, c.denied_by, c.has_reply, c.attempt_count, c.close_reason,
    c.first_error,
    epoch_us(c.start_at) AS begin_us,
    epoch_us(COALESCE(c.end_at, CAST($day_end AS TIMESTAMPTZ))) AS end_us,
    c.end_at IS NULL AS is_open,
    COALESCE(c.verdict = 'DROPPED', FALSE) AS is_dropped,
    COALESCE(c.verdict = 'DROPPED', FALSE) AND (
        c.drop_reason IS NULL
        OR STARTS_WITH(c.drop_reason, 'POLICY_DEN')
        OR c.drop_reason = 'AUTH_REQUIRED'
        OR COALESCE(LEN(c.denied_by), 0) > 0
    ) AS is_denied,
    c.peer_kind = 'metadata' OR g.resource_id IS NOT NULL AS is_gate,
    l.resource_id IS NOT NULL AS is_logged,
    c.close_reason = 'rst' OR p.pod_uid IS NOT NULL AS is_looked_for
FROM placed AS c
LEFT JOIN gates AS g ON c.resource_id = g.resource_id
LEFT JOIN logged AS l ON c.run_uuid = l.run_uuid AND c.resource_id = l.resource_id
LEFT JOIN attempt_pods AS p
    ON c.cluster = p.cluster
    AND c.initiator_pod_uid = p.pod_uid
    AND epoch_us(c.start_at) < p.end_us
    AND epoch_us(COALESCE(c.end_at, CAST($day_end AS TIMESTAMPTZ))) >= p.start_us
