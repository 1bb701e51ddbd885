-- Bytes per local address, peer and direction in windows of five minutes.
-- Grain: key of peer_traffic.
-- Reads: peer_named.
-- Parameters: $start_us and $end_us (the day).
WITH cut AS (
    SELECT
        *,
        CASE WHEN is_sampled THEN 'sampled_flow_record' ELSE 'flow_record' END AS measured_by,
        UNNEST(
            RANGE(
                GREATEST(from_us, CAST($start_us AS BIGINT)) // 300000000,
                (LEAST(until_us, CAST($end_us AS BIGINT)) - 1) // 300000000 + 1
            )
        ) AS window_number
    FROM peer_named
),

parts AS (
    SELECT
        *,
        window_number // 12 AS hour_number,
        CAST(
            CAST(bytes AS HUGEINT)
            * (LEAST(until_us, (window_number + 1) * 300000000) - from_us) // (until_us - from_us)
            - CAST(bytes AS HUGEINT)
            * (GREATEST(from_us, window_number * 300000000) - from_us) // (until_us - from_us)
            AS BIGINT
        ) AS part_bytes,
        from_us >= window_number * 300000000 AND until_us <= (window_number + 1) * 300000000
            AS is_inside,
        from_us >= window_number * 300000000 AS starts_inside
    FROM cut
),

windows AS (
    SELECT
        scope, local_address, pod_uid, peer_address, peer_port, transport, direction,
        window_number, hour_number, measured_by, observer, source_format,
        MIN(cluster) AS cluster,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MIN(run_uuid) AS run_uuid,
        MIN(attempt) AS attempt,
        COALESCE(SUM(part_bytes) FILTER (WHERE NOT is_rejected), 0) AS bytes,
        COALESCE(
            SUM(bytes) FILTER (WHERE NOT is_rejected AND is_inside AND scaled = 'raw'), 0
        ) AS min_bytes,
        COALESCE(SUM(bytes) FILTER (WHERE NOT is_rejected), 0) AS max_bytes,
        COALESCE(SUM(part_bytes) FILTER (WHERE is_rejected), 0) AS rejected_bytes,
        COALESCE(SUM(packets) FILTER (WHERE starts_inside AND NOT is_rejected), 0) AS packets,
        BOOL_OR(starts_inside AND NOT is_rejected AND packets IS NULL) AS lacks_packets,
        COUNT(*) AS record_count,
        MIN(own_rank) AS own_rank,
        BOOL_AND(is_gateway_interface) AS is_gateway_interface,
        BOOL_OR(scaled = 'unknown') AS is_scale_unknown,
        BOOL_AND(is_unknown) AS is_unknown,
        MIN(peer_name) AS peer_name,
        MAX(peer_name) AS other_peer_name,
        BOOL_OR(peer_name IS NULL) AS lacks_name,
        MAX(LIST_POSITION(
            [
                'dns_pod', 'dns_node', 'dns_cluster', 'well_known_address', 'address_range',
                'none', 'ambiguous'
            ],
            name_kind
        )) AS name_rung,
        CASE WHEN MIN(distance) = MAX(distance) THEN MIN(distance) ELSE 'unknown' END AS distance,
        CASE WHEN MIN(gateway) = MAX(gateway) THEN MIN(gateway) ELSE 'unknown' END AS gateway,
        CASE
            WHEN BOOL_AND(scaled = 'raw' AND sampling_interval IS NOT NULL)
                AND MIN(sampling_interval) = MAX(sampling_interval)
                THEN MIN(sampling_interval)
        END AS sampling_interval,
        -- Layers are never mixed under one observer; of two the lower one is named.
        MIN(byte_layer) AS byte_layer,
        MAX(LIST_POSITION(
            ['address_window', 'node', 'shared_address', 'ambiguous', 'conflict', 'none'],
            match_kind
        )) AS match_rung
    FROM parts
    GROUP BY
        scope, local_address, pod_uid, peer_address, peer_port, transport, direction,
        window_number, hour_number, measured_by, observer, source_format
),

-- Several observers of one exchange in one hour saw the same bytes.
observers AS (
    SELECT
        scope, local_address, pod_uid, peer_address, peer_port, transport, direction,
        hour_number, measured_by, source_format, observer
    FROM windows
    GROUP BY
        scope, local_address, pod_uid, peer_address, peer_port, transport, direction,
        hour_number, measured_by, source_format, observer
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY
            scope, local_address, pod_uid, peer_address, peer_port, transport, direction,
            hour_number, measured_by, source_format
        ORDER BY
            BOOL_AND(is_gateway_interface), MIN(own_rank), SUM(record_count) DESC, observer
    ) = 1
),

sources AS (
    SELECT local_address, pod_uid, direction, hour_number, measured_by, source_format, scope
    FROM windows
    WHERE NOT is_scale_unknown
    GROUP BY local_address, pod_uid, direction, hour_number, measured_by, source_format, scope
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY local_address, pod_uid, direction, hour_number,
            CASE WHEN pod_uid IS NULL THEN scope END
        ORDER BY measured_by, source_format, scope
    ) = 1
)

SELECT
    row_id([
        id_text(w.scope), id_text(w.local_address), id_text(w.pod_uid), id_text(w.peer_address),
        id_text(w.peer_port), id_text(w.transport), id_text(w.direction),
        id_text(w.window_number * 300000000), id_text(w.measured_by), id_text(w.observer)
    ]) AS peer_traffic_id,
    w.scope,
    w.cluster,
    w.local_address,
    w.pod_uid,
    w.namespace,
    w.pod_name,
    w.run_uuid,
    w.attempt,
    w.peer_address,
    w.peer_port,
    w.transport,
    w.direction,
    make_timestamptz(w.window_number * 300000000) AS window_start_at,
    CAST(LEAST(w.bytes, 9223372036854775807) AS BIGINT) AS bytes,
    CAST(LEAST(w.min_bytes, 9223372036854775807) AS BIGINT) AS min_bytes,
    CASE
        WHEN w.measured_by = 'flow_record'
            THEN CAST(LEAST(w.max_bytes, 9223372036854775807) AS BIGINT)
    END AS max_bytes,
    CASE
        WHEN NOT w.lacks_packets THEN CAST(LEAST(w.packets, 9223372036854775807) AS BIGINT)
    END AS packets,
    CASE WHEN w.peer_name = w.other_peer_name AND NOT w.lacks_name THEN w.peer_name END
        AS peer_name,
    CASE
        WHEN w.peer_name <> w.other_peer_name THEN 'ambiguous'
        ELSE [
            'dns_pod', 'dns_node', 'dns_cluster', 'well_known_address', 'address_range', 'none',
            'ambiguous'
        ][w.name_rung]
    END AS name_kind,
    w.distance,
    w.gateway,
    -- reference/counters.md 3.6: 95 % bound of a count; for bytes it is an optimistic one.
    CASE
        WHEN w.sampling_interval > 1 AND w.packets > 0 AND NOT w.lacks_packets
            THEN 1.96 * SQRT((1 - 1 / CAST(w.sampling_interval AS DOUBLE)) / w.packets)
    END AS sampling_error_ratio,
    w.measured_by,
    w.byte_layer,
    w.observer,
    ['address_window', 'node', 'shared_address', 'ambiguous', 'conflict', 'none'][w.match_rung]
        AS match_kind,
    o.observer IS NOT NULL
    AND s.measured_by IS NOT NULL
    AND NOT w.is_scale_unknown
    AND NOT (w.is_unknown AND w.is_gateway_interface) AS is_chosen,
    CAST(LEAST(w.rejected_bytes, 9223372036854775807) AS BIGINT) AS rejected_bytes
FROM windows AS w
LEFT JOIN observers AS o
    ON w.scope = o.scope
    AND w.local_address = o.local_address
    AND w.pod_uid IS NOT DISTINCT FROM o.pod_uid
    AND w.peer_address = o.peer_address
    AND w.peer_port IS NOT DISTINCT FROM o.peer_port
    AND w.transport IS NOT DISTINCT FROM o.transport
    AND w.direction = o.direction
    AND w.hour_number = o.hour_number
    AND w.measured_by = o.measured_by
    AND w.source_format = o.source_format
    AND w.observer = o.observer
LEFT JOIN sources AS s
    ON w.local_address = s.local_address
    AND w.pod_uid IS NOT DISTINCT FROM s.pod_uid
    AND w.direction = s.direction
    AND w.hour_number = s.hour_number
    AND w.measured_by = s.measured_by
    AND w.source_format = s.source_format
    AND w.scope = s.scope
