-- Records of the day with the addresses of the packets.
-- Grain: one record that meets the day and names both ends.
-- Reads: volume_records.
-- Parameters: $start_us and $end_us (the day).
WITH timed AS (
    SELECT
        *,
        COALESCE(cluster, 'fleet') AS scope,
        COALESCE(interface_id, instance_id, reporter, source_format) AS observer,
        epoch_us(start_at) AS from_us,
        GREATEST(epoch_us(end_at), epoch_us(start_at) + 1) AS until_us
    FROM volume_records
    WHERE temporality = 'delta'
),

-- What the fields of a file can tell: a null in a field that no record fills tells nothing.
capable AS (
    SELECT
        export_file_id,
        BOOL_OR(instance_id IS NOT NULL) AS tells_instance,
        BOOL_OR(source_service IS NOT NULL OR destination_service IS NOT NULL) AS tells_service
    FROM volume_records
    GROUP BY export_file_id
),

-- One name under two formats is two observers, whose bytes are never added.
named AS (
    SELECT scope, observer, MIN(source_format) <> MAX(source_format) AS has_several_formats
    FROM timed
    GROUP BY scope, observer
)

SELECT
    CAST(ROW_NUMBER() OVER () AS BIGINT) AS record,
    t.scope,
    t.cluster,
    t.source_format,
    CASE
        WHEN n.has_several_formats THEN t.observer || '/' || t.source_format ELSE t.observer
    END AS observer,
    c.tells_instance AND t.instance_id IS NULL AS is_gateway_interface,
    c.tells_service,
    t.flow_direction,
    t.traffic_path,
    COALESCE(t.source_packet_address, t.source_address) AS source,
    t.source_packet_address IS NULL AND t.source_format = 'aws_vpc_flow_log'
        AS is_source_interface,
    t.source_port,
    t.source_service,
    COALESCE(t.destination_packet_address, t.destination_address) AS destination,
    t.destination_packet_address IS NULL AND t.source_format = 'aws_vpc_flow_log'
        AS is_destination_interface,
    t.destination_port,
    t.destination_service,
    t.transport,
    t.from_us,
    t.until_us,
    t.bytes,
    t.packets,
    COALESCE(t.action = 'REJECT', FALSE) AS is_rejected,
    t.sampling_interval,
    t.scaled,
    COALESCE(t.sampling_interval > 1, FALSE) OR t.scaled <> 'raw' AS is_sampled,
    t.byte_layer
FROM timed AS t
INNER JOIN capable AS c USING (export_file_id)
INNER JOIN named AS n USING (scope, observer)
WHERE
    t.from_us < CAST($end_us AS BIGINT)
    AND t.until_us > CAST($start_us AS BIGINT)
    AND COALESCE(t.source_packet_address, t.source_address) IS NOT NULL
    AND COALESCE(t.destination_packet_address, t.destination_address) IS NOT NULL
