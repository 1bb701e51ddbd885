-- Records of the day between numbered ends.
-- Grain: one record that meets the day and names both ends.
-- Reads: volume_intervals, volume_records, peer_addresses, peer_observers.
-- Parameters: $start_us and $end_us (the day).
WITH timed AS (
    SELECT *
    FROM volume_intervals
    WHERE from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
),

-- What a record's packets are called behind the observer's own translation.
translated AS (
    SELECT
        *,
        COALESCE(source_xlated_address, source_address) AS behind_source,
        COALESCE(source_xlated_port, source_port) AS behind_source_port,
        COALESCE(destination_xlated_address, destination_address) AS behind_destination,
        COALESCE(destination_xlated_port, destination_port) AS behind_destination_port
    FROM timed
    WHERE
        source_xlated_address IS NOT NULL
        OR source_xlated_port IS NOT NULL
        OR destination_xlated_address IS NOT NULL
        OR destination_xlated_port IS NOT NULL
),

-- The same packets again: of the records before and after translation the one that names fewer
-- pods, and of equal ones that after it.
repeated AS (
    SELECT
        CASE WHEN pods_after > pods_before THEN b.export_file_id ELSE a.export_file_id END
            AS export_file_id,
        CASE WHEN pods_after > pods_before THEN b.record_index ELSE a.record_index END
            AS record_index,
        CASE WHEN pods_after > pods_before THEN b.row_index ELSE a.row_index END AS row_index
    FROM (
        SELECT
            *,
            CAST(source_pod_name IS NOT NULL AS INTEGER)
            + CAST(destination_pod_name IS NOT NULL AS INTEGER) AS pods_before
        FROM translated
    ) AS b
    INNER JOIN (
        SELECT
            *,
            CAST(source_pod_name IS NOT NULL AS INTEGER)
            + CAST(destination_pod_name IS NOT NULL AS INTEGER) AS pods_after
        FROM timed
    ) AS a
        ON a.name = b.name
        AND a.source_format = b.source_format
        AND a.source_address = b.behind_source
        AND a.destination_address = b.behind_destination
        AND a.cluster IS NOT DISTINCT FROM b.cluster
        AND a.transport IS NOT DISTINCT FROM b.transport
        AND a.source_port IS NOT DISTINCT FROM b.behind_source_port
        AND a.destination_port IS NOT DISTINCT FROM b.behind_destination_port
        AND a.from_us < b.until_us
        AND a.until_us > b.from_us
),

single AS (
    SELECT t.*
    FROM timed AS t
    ANTI JOIN repeated AS r
        ON t.export_file_id = r.export_file_id
        AND t.record_index = r.record_index
        AND t.row_index = r.row_index
),

-- What the fields of a file can tell: a null in a field that no record fills tells nothing.
capable AS (
    SELECT
        export_file_id,
        -- Google's machines may lack their name.
        BOOL_OR(instance_id IS NOT NULL AND source_format = 'aws_vpc_flow_log') AS tells_instance,
        BOOL_OR(source_service IS NOT NULL OR destination_service IS NOT NULL) AS tells_service
    FROM volume_records
    GROUP BY export_file_id
)

SELECT
    o.observer_number,
    (c.tells_instance AND t.instance_id IS NULL)
    OR COALESCE(t.reporter LIKE '%GATEWAY', FALSE)
    OR COALESCE(t.interface_type, 'interface') IN (
        'api_gateway_managed', 'gateway_load_balancer', 'gateway_load_balancer_endpoint',
        'global_accelerator_managed', 'load_balancer', 'network_load_balancer', 'vpc_endpoint'
    ) AS is_gateway_interface,
    t.reporter,
    c.tells_service,
    t.flow_direction,
    t.traffic_path,
    s.address_number AS source_number,
    t.source_packet_address IS NULL AND t.source_format = 'aws_vpc_flow_log'
        AS is_source_interface,
    t.source_port,
    t.source_service,
    d.address_number AS destination_number,
    t.destination_packet_address IS NULL AND t.source_format = 'aws_vpc_flow_log'
        AS is_destination_interface,
    t.destination_port,
    t.destination_service,
    -- Nobody knows an end: the interface's own, else the only private one, else the source is near.
    CASE
        WHEN t.flow_direction = 'egress' THEN TRUE
        WHEN t.flow_direction = 'ingress' THEN FALSE
        ELSE s.is_private OR NOT d.is_private
    END AS is_source_near,
    t.transport,
    t.true_from_us,
    t.from_us,
    t.until_us,
    t.bytes,
    t.certain_bytes,
    t.hides_bytes,
    t.is_record,
    t.packets,
    COALESCE(t.action = 'REJECT', FALSE) AS is_rejected,
    t.sampling_interval,
    COALESCE(t.sampling_interval > 1, FALSE) OR t.scaled <> 'raw' AS is_sampled,
    CASE
        WHEN t.scaled = 'scaled' THEN 'by_source'
        -- No exporter keeps one packet of a million: such a number is none.
        WHEN t.scaled = 'unknown' OR t.sampling_interval > 1048576 THEN 'unknown'
        WHEN t.sampling_interval > 1 THEN COALESCE(t.sampled_unit, 'packets')
        ELSE 'none'
    END AS sampling_kind,
    t.byte_layer
FROM single AS t
INNER JOIN capable AS c USING (export_file_id)
INNER JOIN peer_observers AS o
    ON t.cluster IS NOT DISTINCT FROM o.cluster
    AND t.name = o.name
    AND t.source_format = o.source_format
INNER JOIN peer_addresses AS s
    ON t.cluster IS NOT DISTINCT FROM s.cluster AND t.source = s.address
INNER JOIN peer_addresses AS d
    ON t.cluster IS NOT DISTINCT FROM d.cluster AND t.destination = d.address
