-- Connections with names, resources, containers and ends.
-- Grain: one connection with an event on the day.
-- Reads: connection_peers, name_output, connection_asked, range_output, container_output,
--   stage_output.
-- Parameters: $cluster, $date (the day), $start_us and $end_us (the day), $silence_us,
--   $neighbour_us.
WITH named AS (
    SELECT
        c.*,
        LIST_SORT(LIST_DISTINCT(c.http_hosts)) AS hosts,
        CASE WHEN c.named_us - c.first_us <= CAST($neighbour_us AS BIGINT)
            THEN LIST_SORT(LIST_DISTINCT(c.flow_names)) END AS hubble_names,
        n.name AS answered_name,
        n.canonical_name AS answered_canonical_name,
        n.name_kind AS answered_kind,
        n.candidate_names AS answered_names,
        epoch_us(n.answer_at) AS answered_us,
        a.query_name,
        c.service || '.' || c.service_namespace || '.svc' AS service_name,
        g.service AS range_service
    FROM connection_peers AS c
    LEFT JOIN name_output AS n ON c.connection = n.item_id
    LEFT JOIN connection_asked AS a ON c.connection = a.connection
    LEFT JOIN range_output AS g
        ON c.peer_kind IN ('outside', 'unknown') AND c.responder_address = g.address
    WHERE c.ignored_as IS NULL
),

laddered AS (
    SELECT
        *,
        CASE
            WHEN LEN(hosts) = 1 THEN 'http_host'
            WHEN LEN(hosts) > 1 THEN 'ambiguous'
            WHEN answered_kind IS NOT NULL THEN answered_kind
            WHEN LEN(hubble_names) = 1 THEN 'flow_names'
            WHEN LEN(hubble_names) > 1 THEN 'ambiguous'
            WHEN query_name IS NOT NULL THEN 'dns_time'
            WHEN service_name IS NOT NULL THEN 'kube_service'
            WHEN known_address_name IS NOT NULL THEN 'well_known_address'
            WHEN range_service IS NOT NULL THEN 'address_range'
            ELSE 'none'
        END AS name_kind,
        CASE
            WHEN LEN(hosts) > 1 THEN hosts
            WHEN hosts IS NULL AND answered_kind = 'ambiguous' THEN answered_names
            WHEN hosts IS NULL AND answered_kind IS NULL AND LEN(hubble_names) > 1
                THEN hubble_names
        END AS candidate_names,
        CASE
            WHEN has_ending THEN CASE WHEN has_rst THEN 'rst' ELSE 'fin' END
            WHEN is_followed THEN CASE WHEN transport = 'TCP' THEN 'reuse' ELSE 'silence' END
            WHEN CAST($end_us AS BIGINT) - last_us <= CAST($silence_us AS BIGINT) THEN NULL
            WHEN has_drop AND NOT has_reply THEN 'drop'
            WHEN transport <> 'TCP' THEN 'silence'
        END AS close_reason,
        CASE
            WHEN has_drop AND NOT has_reply THEN 'DROPPED'
            ELSE COALESCE(
                ['REDIRECTED', 'FORWARDED', 'AUDIT', 'TRACED', 'TRANSLATED', 'ERROR'][
                    COALESCE(client_verdict, any_verdict)
                ],
                other_verdict,
                CASE WHEN has_drop THEN 'DROPPED' END
            )
        END AS final_verdict,
        CASE WHEN responder_port IS NOT NULL THEN ':' || CAST(responder_port AS VARCHAR) ELSE '' END
        || CASE WHEN transport = 'TCP' THEN '' ELSE '/' || LOWER(transport) END AS door,
        COALESCE(responder_known_node, responder_node) AS final_responder_node,
        COALESCE(responder_known_namespace, responder_namespace) AS final_responder_namespace,
        COALESCE(responder_known_name, responder_pod_name) AS final_responder_name
    FROM named
),

addressed AS (
    SELECT
        *,
        CASE name_kind
            WHEN 'http_host' THEN hosts[1]
            WHEN 'dns_pod' THEN answered_name
            WHEN 'dns_node' THEN answered_name
            WHEN 'dns_cluster' THEN answered_name
            WHEN 'flow_names' THEN hubble_names[1]
            WHEN 'dns_time' THEN query_name
            WHEN 'kube_service' THEN service_name
            WHEN 'well_known_address' THEN known_address_name
            WHEN 'address_range' THEN range_service
        END AS peer_name
    FROM laddered
)

SELECT
    row_id([
        id_text(CAST($cluster AS VARCHAR)), id_text(c.transport), id_text(c.initiator_address),
        id_text(c.initiator_port), id_text(c.responder_address), id_text(c.responder_port),
        id_text(
            CASE
                WHEN c.is_reached
                    THEN CAST(CAST(make_timestamptz(c.first_us) AS DATE) AS VARCHAR)
                ELSE CAST(CAST($date AS DATE) AS VARCHAR)
            END
        ),
        id_text(c.ordinal)
    ]) AS connection_id,
    CAST($cluster AS VARCHAR) AS cluster,
    make_timestamptz(c.first_us) AS start_at,
    CASE WHEN c.close_reason IS NOT NULL THEN make_timestamptz(c.last_us) END AS end_at,
    c.transport,
    c.initiator_address,
    c.initiator_port,
    COALESCE(c.initiator_known_node, c.initiator_node) AS initiator_node,
    COALESCE(c.initiator_known_namespace, c.initiator_namespace) AS initiator_namespace,
    COALESCE(c.initiator_known_name, c.initiator_pod_name) AS initiator_pod_name,
    c.initiator_uid AS initiator_pod_uid,
    c.initiator_match_kind,
    c.initiator_candidates AS initiator_candidate_pod_uids,
    c.responder_address,
    c.responder_port,
    c.final_responder_node AS responder_node,
    c.final_responder_namespace AS responder_namespace,
    c.final_responder_name AS responder_pod_name,
    c.responder_uid AS responder_pod_uid,
    c.responder_match_kind,
    c.responder_candidates AS responder_candidate_pod_uids,
    ['is_reply', 'trace_reason', 'syn', 'lower_port', 'unknown'][c.rung] AS orientation_kind,
    c.run_uuid,
    c.attempt,
    c.responder_run_uuid,
    c.final_verdict AS verdict,
    CASE WHEN c.final_verdict = 'DROPPED' THEN c.drop_reason END AS drop_reason,
    CASE WHEN LEN(c.denials) > 0 THEN LIST_SORT(LIST_DISTINCT(FLATTEN(c.denials))) END
        AS denied_by,
    c.has_reply,
    -- Counts of the whole stand on the day of the start.
    CAST(
        CASE WHEN c.first_us >= CAST($start_us AS BIGINT) THEN c.attempt_count ELSE 0 END AS BIGINT
    ) AS attempt_count,
    c.event_count,
    NOT c.is_reached AS opened_before,
    c.close_reason IS NULL AS closed_after,
    c.close_reason,
    c.peer_kind,
    c.peer_name,
    CASE WHEN c.name_kind IN ('dns_pod', 'dns_node', 'dns_cluster')
        THEN c.answered_canonical_name END AS canonical_name,
    c.name_kind,
    CASE WHEN c.name_kind IN ('dns_pod', 'dns_node', 'dns_cluster')
        THEN CAST(c.first_us - c.answered_us AS DOUBLE) / 1000000 END AS name_age_seconds,
    c.candidate_names,
    CASE
        WHEN c.peer_kind = 'api_server'
            THEN 'kube://' || CAST($cluster AS VARCHAR) || '/default/kubernetes' || c.door
        WHEN c.service IS NOT NULL AND c.peer_kind IN ('pod', 'service')
            THEN 'kube://' || CAST($cluster AS VARCHAR) || '/' || c.service_namespace || '/'
                || c.service || c.door
        WHEN c.peer_kind = 'pod' AND c.final_responder_namespace IS NOT NULL
            THEN 'kube://' || CAST($cluster AS VARCHAR) || '/' || c.final_responder_namespace || '/'
                || COALESCE(
                    c.workload, SPLIT_PART(c.responder_workload, '/', 2), c.final_responder_name
                ) || c.door
        WHEN c.peer_kind = 'node' AND c.final_responder_node IS NOT NULL
            THEN 'node://' || CAST($cluster AS VARCHAR) || '/' || c.final_responder_node || c.door
        WHEN
            c.peer_name IS NOT NULL
            AND c.name_kind NOT IN ('kube_service', 'well_known_address', 'address_range')
            THEN 'dns://' || c.peer_name || c.door
        WHEN CONTAINS(c.responder_address, ':')
            THEN 'ip://[' || c.responder_address || ']' || c.door
        ELSE 'ip://' || c.responder_address || c.door
    END AS resource_id,
    t.container,
    COALESCE(t.container_kind, 'none') AS container_kind,
    t.container_role,
    t.candidate_containers,
    COALESCE(g.stage, 'unknown') AS stage,
    GREATEST(c.client_requests, c.server_requests) AS http_request_count,
    GREATEST(c.client_errors, c.server_errors) AS http_error_count,
    c.first_error
FROM addressed AS c
LEFT JOIN container_output AS t ON c.connection = t.item_id
LEFT JOIN stage_output AS g ON c.connection = g.item_id
