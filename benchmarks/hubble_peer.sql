-- The peer: DuckDB's own reader, lossy, to one Parquet file with the columns of `flows`.
--
-- Grain: one line; a damaged line is a row of nulls or lacks the value that is wrong.
-- Reads: the files $files. Writes: nothing by itself; it runs inside COPY.
SELECT
    '0123456789abcdef0123456789abcdef' AS export_file_id,
    CAST(0 AS BIGINT) AS record_index,
    CAST(0 AS BIGINT) AS row_index,
    flow.uuid AS record_id,
    'hubble' AS source_format,
    'alder' AS "cluster",
    CAST(COALESCE(flow."time", "time") AS TIMESTAMPTZ) AS event_at,
    flow.uuid AS uuid,
    SPLIT_PART(COALESCE(flow.node_name, node_name), '/', -1) AS node,
    flow.verdict AS verdict,
    COALESCE(flow.drop_reason_desc, CAST(flow.drop_reason AS VARCHAR)) AS drop_reason,
    flow.traffic_direction AS direction,
    COALESCE(flow.is_reply, flow.reply) AS is_reply,
    flow.event_type."type" AS event_type,
    COALESCE(flow.event_type.sub_type, 0) AS event_sub_type,
    flow.trace_observation_point AS observation_point,
    flow.trace_reason AS trace_reason,
    CASE
        WHEN flow.l4.TCP IS NOT NULL THEN 'TCP'
        WHEN flow.l4.UDP IS NOT NULL THEN 'UDP'
        WHEN flow.l4.SCTP IS NOT NULL THEN 'SCTP'
        WHEN flow.l4.ICMPv4 IS NOT NULL THEN 'ICMPv4'
        WHEN flow.l4.ICMPv6 IS NOT NULL THEN 'ICMPv6'
    END AS transport,
    flow.IP.source AS source_address,
    flow.IP.source_xlated AS source_xlated_address,
    COALESCE(flow.l4.TCP.source_port, flow.l4.UDP.source_port, flow.l4.SCTP.source_port)
        AS source_port,
    flow.source.namespace AS source_namespace,
    flow.source.pod_name AS source_pod_name,
    flow.source.pod_uid AS source_pod_uid,
    flow.source.identity AS source_identity,
    flow.source.ID AS source_endpoint_id,
    flow.source.labels AS source_labels,
    flow.source.workloads[1].kind || '/' || flow.source.workloads[1].name AS source_workload,
    flow.source_service.namespace || '/' || flow.source_service.name AS source_service,
    flow.IP.destination AS destination_address,
    CAST(NULL AS VARCHAR) AS destination_xlated_address,
    COALESCE(
        flow.l4.TCP.destination_port, flow.l4.UDP.destination_port, flow.l4.SCTP.destination_port
    ) AS destination_port,
    flow.destination.namespace AS destination_namespace,
    flow.destination.pod_name AS destination_pod_name,
    flow.destination.pod_uid AS destination_pod_uid,
    flow.destination.identity AS destination_identity,
    flow.destination.ID AS destination_endpoint_id,
    flow.destination.labels AS destination_labels,
    flow.destination.workloads[1].kind || '/' || flow.destination.workloads[1].name
        AS destination_workload,
    flow.destination_service.namespace || '/' || flow.destination_service.name
        AS destination_service,
    CONCAT_WS(
        ',',
        CASE WHEN flow.l4.TCP.flags.FIN THEN 'FIN' END,
        CASE WHEN flow.l4.TCP.flags.SYN THEN 'SYN' END,
        CASE WHEN flow.l4.TCP.flags.RST THEN 'RST' END,
        CASE WHEN flow.l4.TCP.flags.PSH THEN 'PSH' END,
        CASE WHEN flow.l4.TCP.flags.ACK THEN 'ACK' END
    ) AS tcp_flags,
    flow.source_names AS source_names,
    flow.destination_names AS destination_names,
    flow.l7."type" AS l7_type,
    LOWER(RTRIM(flow.l7.dns."query", '.')) AS dns_query,
    flow.l7.dns.qtypes AS dns_query_types,
    flow.l7.dns.ips AS dns_addresses,
    flow.l7.dns.cnames AS dns_canonical_names,
    flow.l7.dns.ttl AS dns_ttl_seconds,
    flow.l7.dns.rcode AS dns_rcode,
    flow.l7.http."method" AS http_method,
    SPLIT_PART(flow.l7.http.url, '/', 3) AS http_host,
    SPLIT_PART(flow.l7.http.url, '?', 1) AS http_path,
    flow.l7.http.code AS http_status,
    flow.l7.latency_ns / 1e9 AS latency_seconds,
    CAST(NULL AS VARCHAR[]) AS denied_by,
    flow.proxy_port AS proxy_port,
    CAST(NULL AS VARCHAR) AS agent_event,
    CAST(NULL AS BIGINT) AS flow_count,
    CAST(NULL AS BIGINT) AS packet_bytes,
    CAST(NULL AS BIGINT) AS unreported_bytes,
    CAST(NULL AS BIGINT) AS unreported_packets,
    false AS is_masked
FROM
    READ_NDJSON(
        $files,
        ignore_errors = true,
        maximum_object_size = 16777216,
        columns = {
            flow: 'STRUCT(
                "time" VARCHAR, uuid VARCHAR, node_name VARCHAR, verdict VARCHAR,
                drop_reason BIGINT, drop_reason_desc VARCHAR, traffic_direction VARCHAR,
                is_reply BOOLEAN, reply BOOLEAN,
                event_type STRUCT("type" BIGINT, sub_type BIGINT),
                trace_observation_point VARCHAR, trace_reason VARCHAR,
                IP STRUCT(source VARCHAR, destination VARCHAR, source_xlated VARCHAR),
                l4 STRUCT(
                    TCP STRUCT(
                        source_port BIGINT, destination_port BIGINT,
                        flags STRUCT(FIN BOOLEAN, SYN BOOLEAN, RST BOOLEAN, PSH BOOLEAN, ACK BOOLEAN)
                    ),
                    UDP STRUCT(source_port BIGINT, destination_port BIGINT),
                    SCTP STRUCT(source_port BIGINT, destination_port BIGINT),
                    ICMPv4 STRUCT("type" BIGINT), ICMPv6 STRUCT("type" BIGINT)
                ),
                source STRUCT(
                    ID BIGINT, identity BIGINT, namespace VARCHAR, pod_name VARCHAR,
                    pod_uid VARCHAR, labels VARCHAR[],
                    workloads STRUCT(name VARCHAR, kind VARCHAR)[]
                ),
                destination STRUCT(
                    ID BIGINT, identity BIGINT, namespace VARCHAR, pod_name VARCHAR,
                    pod_uid VARCHAR, labels VARCHAR[],
                    workloads STRUCT(name VARCHAR, kind VARCHAR)[]
                ),
                source_service STRUCT(name VARCHAR, namespace VARCHAR),
                destination_service STRUCT(name VARCHAR, namespace VARCHAR),
                source_names VARCHAR[], destination_names VARCHAR[],
                l7 STRUCT(
                    "type" VARCHAR, latency_ns BIGINT,
                    dns STRUCT(
                        "query" VARCHAR, ips VARCHAR[], ttl BIGINT, cnames VARCHAR[],
                        rcode BIGINT, qtypes VARCHAR[]
                    ),
                    http STRUCT(code BIGINT, "method" VARCHAR, url VARCHAR)
                ),
                proxy_port BIGINT
            )',
            node_name: 'VARCHAR',
            "time": 'VARCHAR'
        }
    )
