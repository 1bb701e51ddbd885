-- Records as each of their local ends sees them.
-- Grain: one record seen from one end.
-- Reads: peer_records, peer_ends, node_places, cluster_accounts.
WITH ended AS (
    SELECT
        r.*,
        s AS source_end,
        d AS destination_end,
        s.match_kind <> 'none' AS is_source_known,
        d.match_kind <> 'none' AS is_destination_known
    FROM peer_records AS r
    INNER JOIN peer_ends AS s
        ON r.cluster IS NOT DISTINCT FROM s.asked_cluster
        AND r.source = s.address
        AND r.from_us = s.from_us
        AND r.until_us = s.until_us
    INNER JOIN peer_ends AS d
        ON r.cluster IS NOT DISTINCT FROM d.asked_cluster
        AND r.destination = d.address
        AND r.from_us = d.from_us
        AND r.until_us = d.until_us
),

judged AS (
    SELECT
        *,
        NOT is_source_known AND NOT is_destination_known AS is_unknown,
        CASE
            WHEN flow_direction = 'egress' THEN TRUE
            WHEN flow_direction = 'ingress' THEN FALSE
            ELSE is_private_address(source) OR NOT is_private_address(destination)
        END AS is_source_near
    FROM ended
),

sides AS (
    SELECT
        record, scope, source_format, observer, is_gateway_interface, is_unknown, tells_service,
        traffic_path, transport, from_us, until_us, bytes, packets, is_rejected,
        sampling_interval, scaled, is_sampled, byte_layer,
        'transmit' AS direction,
        source AS local_address,
        source_port AS local_port,
        source_end AS local_end,
        is_source_interface AS is_local_interface,
        destination AS peer_address,
        destination_port AS peer_port,
        destination_end AS peer_end,
        destination_service AS peer_service,
        CASE flow_direction WHEN 'egress' THEN 0 WHEN 'ingress' THEN 2 ELSE 1 END AS own_rank
    FROM judged
    WHERE is_source_known OR (is_unknown AND is_source_near)
    UNION ALL
    SELECT
        record, scope, source_format, observer, is_gateway_interface, is_unknown, tells_service,
        traffic_path, transport, from_us, until_us, bytes, packets, is_rejected,
        sampling_interval, scaled, is_sampled, byte_layer,
        'receive' AS direction,
        destination AS local_address,
        destination_port AS local_port,
        destination_end AS local_end,
        is_destination_interface AS is_local_interface,
        source AS peer_address,
        source_port AS peer_port,
        source_end AS peer_end,
        source_service AS peer_service,
        CASE flow_direction WHEN 'ingress' THEN 0 WHEN 'egress' THEN 2 ELSE 1 END AS own_rank
    FROM judged
    WHERE is_destination_known OR (is_unknown AND NOT is_source_near)
),

-- An exchange is what one observer saw between two ports, both ways, without a gap above 600 s.
spaced AS (
    SELECT
        *,
        COALESCE(
            from_us - MAX(until_us) OVER (
                PARTITION BY
                    scope, observer, local_address, local_port, peer_address, peer_port, transport
                ORDER BY from_us, until_us, record
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) > 600000000,
            TRUE
        ) AS begins
    FROM sides
),

numbered AS (
    SELECT
        *,
        SUM(CASE WHEN begins THEN 1 ELSE 0 END) OVER (
            PARTITION BY
                scope, observer, local_address, local_port, peer_address, peer_port, transport
            ORDER BY from_us, until_us, record
            ROWS UNBOUNDED PRECEDING
        ) AS exchange
    FROM spaced
),

exchanged AS (
    SELECT
        *,
        MIN(from_us) OVER one_exchange AS began_us,
        MIN(traffic_path) OVER one_exchange AS least_path,
        MAX(traffic_path) OVER one_exchange AS greatest_path
    FROM numbered
    WINDOW one_exchange AS (
        PARTITION BY
            scope, observer, local_address, local_port, peer_address, peer_port, transport,
            exchange
    )
),

pathed AS (
    SELECT
        *,
        COALESCE(traffic_path, CASE WHEN least_path = greatest_path THEN least_path END) AS way
    FROM exchanged
)

SELECT
    s.record,
    s.scope,
    s.source_format,
    s.observer,
    s.direction,
    s.local_address,
    s.local_end.cluster AS cluster,
    s.local_end.pod_uid AS pod_uid,
    s.local_end.namespace AS namespace,
    s.local_end.pod_name AS pod_name,
    s.local_end.node AS node,
    s.local_end.run_uuid AS run_uuid,
    s.local_end.attempt AS attempt,
    CASE
        WHEN s.local_end.match_kind = 'node' AND s.is_local_interface THEN 'shared_address'
        ELSE s.local_end.match_kind
    END AS match_kind,
    s.peer_address,
    s.peer_port,
    s.peer_service,
    s.transport,
    s.from_us,
    s.until_us,
    s.bytes,
    s.packets,
    s.is_rejected,
    s.sampling_interval,
    s.scaled,
    s.is_sampled,
    s.byte_layer,
    s.is_gateway_interface,
    s.is_unknown,
    s.own_rank,
    s.began_us,
    CASE
        WHEN a.node = b.node AND a.cluster = b.cluster THEN 'same_node'
        WHEN a.region <> b.region THEN 'cross_region'
        WHEN
            a.region = b.region AND a.zone = b.zone
            AND (a.cluster = b.cluster OR x.account_id = y.account_id)
            THEN 'same_zone'
        WHEN
            a.region = b.region AND a.zone <> b.zone
            AND (a.cluster = b.cluster OR x.account_id = y.account_id)
            THEN 'cross_zone'
        WHEN a.region = b.region THEN 'same_region'
        WHEN s.way = '5' THEN 'cross_region'
        WHEN s.way IN ('1', '4') AND is_private_address(s.peer_address) THEN 'same_region'
        WHEN s.way = '7' THEN 'same_region'
        WHEN
            s.way IN ('2', '8') AND s.tells_service AND s.peer_service IS NULL
            AND is_public_address(s.peer_address)
            THEN 'internet'
        ELSE 'unknown'
    END AS distance,
    CASE
        WHEN s.way = '1' AND is_private_address(s.peer_address) THEN 'none'
        WHEN s.way = '8' THEN 'none'
        WHEN s.way IN ('4', '5') THEN 'peering'
        WHEN s.way = '7' THEN 'gateway_endpoint'
        ELSE 'unknown'
    END AS gateway
FROM pathed AS s
LEFT JOIN node_places AS a
    ON s.local_end.cluster = a.cluster AND s.local_end.node = a.node
    AND NOT (s.local_end.match_kind = 'node' AND s.is_local_interface)
LEFT JOIN node_places AS b ON s.peer_end.cluster = b.cluster AND s.peer_end.node = b.node
LEFT JOIN cluster_accounts AS x ON a.cluster = x.cluster
LEFT JOIN cluster_accounts AS y ON b.cluster = y.cluster
