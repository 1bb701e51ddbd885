-- What the events of each connection say together.
-- Grain: one connection of the tuples of the day (others of the same tuple within the look-back and
--   the skew guard stand here too: they give the ordinal and the end).
-- Reads: connection_sides, connection_complex.
-- Parameters: $start_us and $end_us (the day), $neighbour_us, $first_tuple to $last_tuple, and
--   $first_at to $last_at (first and last event of these within look-back and skew guard).
WITH events AS (
    SELECT *, CAST(NULL AS BOOLEAN) AS is_attempt, CAST(0 AS BIGINT) AS segment
    FROM connection_sides
    WHERE
        NOT is_complex
        AND event_at BETWEEN $first_at AND $last_at
        AND tuple BETWEEN CAST($first_tuple AS BIGINT) AND CAST($last_tuple AS BIGINT)
    UNION ALL BY NAME
    SELECT * FROM connection_complex
    WHERE tuple BETWEEN CAST($first_tuple AS BIGINT) AND CAST($last_tuple AS BIGINT)
),

dated AS (
    SELECT
        *,
        event_us < CAST($end_us AS BIGINT) AS is_told,
        event_us >= CAST($start_us AS BIGINT) AND event_us < CAST($end_us AS BIGINT) AS is_today,
        l7_type = 'REQUEST' AND http_method IS NOT NULL AS is_request,
        CASE
            WHEN verdict = 'DROPPED' OR http_status >= 400
                THEN COALESCE(drop_reason, 'HTTP ' || CAST(http_status AS VARCHAR), verdict)
        END AS failure,
        CASE verdict
            WHEN 'REDIRECTED' THEN 1
            WHEN 'FORWARDED' THEN 2
            WHEN 'AUDIT' THEN 3
            WHEN 'TRACED' THEN 4
            WHEN 'TRANSLATED' THEN 5
            WHEN 'ERROR' THEN 6
        END AS verdict_rung
    FROM events
),

-- Cases, not filters: each filter would cut the events out once more.
summed AS (
    SELECT
        tuple,
        initiator_is_a,
        segment,
        MIN(transport) AS transport,
        MIN(rung) AS rung,
        MIN(event_us) AS first_us,
        MAX(CASE WHEN is_told THEN event_us END) AS last_us,
        MIN(CASE WHEN proves_start THEN event_us END) AS proven_us,
        BOOL_OR(tcp_flags IS NOT NULL OR trace_reason IS NOT NULL) AS tells_start,
        BOOL_OR(is_dns) AS is_dns,
        COUNT(CASE WHEN is_today THEN 1 END) AS event_count,
        CASE
            WHEN BOOL_OR(is_complex) THEN COUNT(CASE WHEN is_attempt AND is_told THEN 1 END)
            WHEN BOOL_OR(is_opening AND is_told) THEN 1
            ELSE 0
        END AS attempt_count,
        BOOL_OR(is_ending AND is_told) AS has_ending,
        BOOL_OR(has_rst AND is_told) AS has_rst,
        BOOL_OR(NOT is_forward AND is_told AND verdict IS DISTINCT FROM 'DROPPED') AS has_reply,
        BOOL_OR(is_told AND verdict = 'DROPPED') AS has_drop,
        -- The first verdict of the initiator's own side, else of any; of one instant the lowest
        -- rung. A verdict that has no rung is kept by name.
        MIN(
            CASE
                WHEN is_told AND is_forward AND (is_initiator_local OR direction = 'EGRESS')
                    THEN event_us * 8 + verdict_rung
            END
        ) % 8 AS client_verdict,
        MIN(CASE WHEN is_told THEN event_us * 8 + verdict_rung END) % 8 AS any_verdict,
        MIN(verdict) FILTER (WHERE is_told AND verdict_rung IS NULL AND verdict <> 'DROPPED')
            AS other_verdict,
        (
            MIN({'us': event_us, 'reason': drop_reason}) FILTER (
                WHERE is_told AND drop_reason IS NOT NULL AND verdict = 'DROPPED'
            )
        ).reason AS drop_reason,
        LIST(denied_by) FILTER (WHERE is_told AND LEN(denied_by) > 0) AS denials,
        MIN(initiator_namespace) AS initiator_namespace,
        MIN(initiator_pod_name) AS initiator_pod_name,
        MAX(initiator_pod_name) AS initiator_other_name,
        MIN(initiator_pod_uid) AS initiator_pod_uid,
        MIN(CASE WHEN is_initiator_local THEN node END) AS initiator_node,
        MIN(responder_namespace) AS responder_namespace,
        MIN(responder_pod_name) AS responder_pod_name,
        MAX(responder_pod_name) AS responder_other_name,
        MIN(responder_pod_uid) AS responder_pod_uid,
        MIN(CASE WHEN is_responder_local THEN node END) AS responder_node,
        MIN(responder_workload) AS responder_workload,
        MIN(responder_service) AS responder_service,
        BOOL_OR(initiator_class = 'host' AND is_responder_local AND responder_pod_name IS NOT NULL)
            AS is_from_own_host,
        BOOL_OR(initiator_class = 'pod')
        AND NOT BOOL_OR(is_initiator_local)
        AND MIN(initiator_pod_name) IS NULL AS is_from_proxy,
        BOOL_OR(responder_class IN ('host', 'remote_node')) AS is_to_node,
        BOOL_OR(responder_class = 'world') AS is_to_world,
        BOOL_OR(is_api_server) AS is_to_api_server,
        MIN({'us': event_us, 'names': responder_names}) FILTER (WHERE LEN(responder_names) > 0)
            AS named,
        LIST(http_host) FILTER (WHERE http_host IS NOT NULL AND is_told) AS http_hosts,
        COUNT(CASE WHEN is_today AND is_request AND direction = 'EGRESS' THEN 1 END)
            AS client_requests,
        COUNT(CASE WHEN is_today AND is_request AND direction IS DISTINCT FROM 'EGRESS' THEN 1 END)
            AS server_requests,
        COUNT(CASE WHEN is_today AND http_status >= 400 AND direction = 'EGRESS' THEN 1 END)
            AS client_errors,
        COUNT(
            CASE
                WHEN is_today AND http_status >= 400 AND direction IS DISTINCT FROM 'EGRESS' THEN 1
            END
        ) AS server_errors,
        (
            MIN({'us': event_us, 'failure': failure}) FILTER (
                WHERE is_told AND failure IS NOT NULL
            )
        ).failure AS first_error
    FROM dated
    GROUP BY tuple, initiator_is_a, segment
)

-- Two names at one end contradict each other: then only the address speaks.
SELECT
    * EXCLUDE (named)
    REPLACE (
        CASE WHEN initiator_pod_name = initiator_other_name THEN initiator_namespace END
            AS initiator_namespace,
        CASE WHEN initiator_pod_name = initiator_other_name THEN initiator_pod_name END
            AS initiator_pod_name,
        CASE WHEN initiator_pod_name <> initiator_other_name THEN NULL ELSE initiator_pod_uid END
            AS initiator_pod_uid,
        CASE WHEN responder_pod_name = responder_other_name THEN responder_namespace END
            AS responder_namespace,
        CASE WHEN responder_pod_name = responder_other_name THEN responder_pod_name END
            AS responder_pod_name,
        CASE WHEN responder_pod_name <> responder_other_name THEN NULL ELSE responder_pod_uid END
            AS responder_pod_uid
    ),
    named.us AS named_us,
    named.names AS flow_names,
    CASE
        WHEN transport = 'TCP' AND tells_start
            THEN COALESCE(proven_us - first_us <= CAST($neighbour_us AS BIGINT), FALSE)
    END AS is_start_seen
FROM summed
