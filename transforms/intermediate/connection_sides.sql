-- Events as initiator and responder, with the tuple that they belong to.
-- Grain: one event of a tuple of the day (a view; readers add the range of time).
-- Reads: connection_events, connection_tuples.
WITH oriented AS (
    SELECT
        t.tuple,
        t.is_complex,
        t.is_dns,
        COALESCE(e.source_is_initiator = e.source_is_a, t.default_initiator_is_a)
            AS initiator_is_a,
        COALESCE(e.orientation_rung, t.default_rung, 5) AS rung,
        e.*
    FROM connection_events AS e
    INNER JOIN connection_tuples AS t
        ON e.transport = t.transport
        AND e.a_address = t.a_address
        AND e.a_port IS NOT DISTINCT FROM t.a_port
        AND e.b_address = t.b_address
        AND e.b_port IS NOT DISTINCT FROM t.b_port
),

turned AS (
    SELECT *, initiator_is_a = source_is_a AS is_forward
    FROM oriented
)

SELECT
    tuple,
    is_complex,
    is_dns,
    initiator_is_a,
    rung,
    is_forward,
    transport,
    event_at,
    event_us,
    record_id,
    node,
    verdict,
    drop_reason,
    denied_by,
    direction,
    trace_reason,
    tcp_flags,
    is_opening,
    is_opening OR (has_syn AND has_ack) AS proves_start,
    is_ending,
    has_rst,
    CASE WHEN is_forward THEN source_class ELSE destination_class END AS initiator_class,
    CASE WHEN is_forward THEN source_namespace ELSE destination_namespace END
        AS initiator_namespace,
    CASE WHEN is_forward THEN source_pod_name ELSE destination_pod_name END AS initiator_pod_name,
    CASE WHEN is_forward THEN source_pod_uid ELSE destination_pod_uid END AS initiator_pod_uid,
    CASE WHEN is_forward THEN source_endpoint_id ELSE destination_endpoint_id END IS NOT NULL
        AS is_initiator_local,
    CASE WHEN is_forward THEN destination_class ELSE source_class END AS responder_class,
    CASE WHEN is_forward THEN destination_namespace ELSE source_namespace END
        AS responder_namespace,
    CASE WHEN is_forward THEN destination_pod_name ELSE source_pod_name END AS responder_pod_name,
    CASE WHEN is_forward THEN destination_pod_uid ELSE source_pod_uid END AS responder_pod_uid,
    CASE WHEN is_forward THEN destination_endpoint_id ELSE source_endpoint_id END IS NOT NULL
        AS is_responder_local,
    CASE WHEN is_forward THEN destination_workload ELSE source_workload END AS responder_workload,
    CASE WHEN is_forward THEN destination_service ELSE source_service END AS responder_service,
    CASE WHEN is_forward THEN destination_is_api_server ELSE source_is_api_server END
        AS is_api_server,
    CASE WHEN is_forward THEN destination_names ELSE source_names END AS responder_names,
    l7_type,
    http_method,
    http_host,
    http_status
FROM turned
