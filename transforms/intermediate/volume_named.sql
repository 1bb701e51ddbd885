-- Records of bytes with the name of who observed them and the addresses that packets had.
-- Grain: one record.
-- Reads: volume_records.
SELECT
    *,
    -- Of Google's machines the names may be missing, of which end they are is always told. Azure
    -- logs one card's packets once for its network and once for each of its security groups; an
    -- exporter may meter packets as they come in and as they leave.
    CASE
        WHEN source_format = 'gcp_vpc_flow_log' AND reporter IN ('SRC', 'DEST') THEN reporter
        WHEN source_format = 'azure_flow_log' AND interface_id IS NOT NULL
            THEN CONCAT_WS('/', interface_id, reporter)
        WHEN source_format = 'netflow_json' AND reporter IS NOT NULL
            THEN CONCAT_WS('/', reporter, flow_direction)
        ELSE COALESCE(interface_id, instance_id, reporter, observer, node, source_format)
    END AS name,
    -- Azure's tuples tell no beginning of their own by which two observers could be told apart.
    COALESCE(interface_id, instance_id, reporter, observer, node) IS NOT NULL
    OR source_format = 'azure_flow_log' AS is_named,
    COALESCE(traffic_type = 'EFA', FALSE) AS is_remote_memory,
    -- Of no bytes: it only tells when a flow of Azure's began.
    source_format = 'azure_flow_log' AND COALESCE(connection_state = 'B', FALSE) AS is_beginning,
    COALESCE(source_packet_address, source_address) AS source,
    COALESCE(destination_packet_address, destination_address) AS destination,
    -- A direction of a connection as one observer names it.
    {
        'cluster': cluster, 'format': source_format, 'name': name, 'source': source,
        'source_port': source_port, 'destination': destination,
        'destination_port': destination_port, 'transport': transport,
        'flow_direction': flow_direction
    } AS connection,
    -- What to call an end that has no address.
    COALESCE(
        source_namespace || '/' || source_pod_name, source_cluster_services[1],
        source_namespace || '/' || source_workload, source_pod_name, source_workload, source_node,
        source_service
    ) AS source_name,
    COALESCE(
        destination_namespace || '/' || destination_pod_name, destination_cluster_services[1],
        destination_namespace || '/' || destination_workload, destination_pod_name,
        destination_workload, destination_node, destination_service
    ) AS destination_name
FROM volume_records
