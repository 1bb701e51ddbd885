-- Records cut into windows of five minutes and summed.
-- Grain: observer, local address and party, peer address and port, transport, direction, window, sampled or not.
-- Reads: peer_sides, peer_relations, peer_ends, peer_addresses, name_output, well_known_addresses.
-- Parameters: $start_us and $end_us (the day).
WITH told AS (
    SELECT
        s.*,
        r.distance,
        -- A shared address is the gateway itself; one that is asked is no translation's. The side
        -- with the lower port is the one that was asked.
        CASE
            WHEN l.is_shared THEN 'nat'
            WHEN a.is_shared AND s.peer_port < s.local_port THEN 'proxy'
            WHEN a.is_shared AND s.peer_port > s.local_port THEN 'nat'
            WHEN a.is_shared THEN 'unknown'
            -- Such a name is an interface endpoint's own.
            WHEN a.is_private AND n.name LIKE '%.vpce.amazonaws.com' THEN 'interface_endpoint'
            ELSE r.gateway
        END AS gateway,
        e.cluster,
        COALESCE(e.party, 0) AS party,
        l.is_shared AND COALESCE(e.match_kind, 'none') IN ('none', 'node') AS is_behind_nat,
        CASE
            WHEN l.is_shared AND COALESCE(e.match_kind, 'none') IN ('none', 'node')
                THEN 'shared_address'
            WHEN e.match_kind = 'node' AND s.is_local_interface THEN 'shared_address'
            ELSE COALESCE(e.match_kind, 'none')
        END AS match_kind,
        CASE
            WHEN n.name_kind IS NOT NULL THEN n.name
            ELSE COALESCE(w.name, s.peer_service, r.range_service)
        END AS peer_name,
        CASE
            WHEN n.name_kind IS NOT NULL THEN n.name_kind
            WHEN w.name IS NOT NULL THEN 'well_known_address'
            WHEN COALESCE(s.peer_service, r.range_service) IS NOT NULL THEN 'address_range'
            ELSE 'none'
        END AS name_kind
    FROM peer_sides AS s
    INNER JOIN peer_relations AS r
        ON s.local_end IS NOT DISTINCT FROM r.local_end
        AND s.local_number = r.local_number
        AND s.is_local_interface = r.is_local_interface
        AND s.peer_end IS NOT DISTINCT FROM r.peer_end
        AND s.peer_number = r.peer_number
        AND s.way IS NOT DISTINCT FROM r.way
        AND s.peer_service IS NOT DISTINCT FROM r.peer_service
        AND s.tells_service = r.tells_service
    INNER JOIN peer_addresses AS a ON s.peer_number = a.address_number
    INNER JOIN peer_addresses AS l ON s.local_number = l.address_number
    LEFT JOIN peer_ends AS e ON s.local_end = e.end_number
    LEFT JOIN name_output AS n
        ON s.local_end = n.item_id.local_end
        AND s.peer_number = n.item_id.peer_number
        AND s.began_us = n.item_id.began_us
    LEFT JOIN well_known_addresses AS w ON a.address = w.address
),

cut AS (
    SELECT
        *,
        UNNEST(
            RANGE(
                GREATEST(from_us, CAST($start_us AS BIGINT)) // 300000000,
                (LEAST(until_us, CAST($end_us AS BIGINT)) - 1) // 300000000 + 1
            )
        ) AS window_number
    FROM told
),

parts AS (
    SELECT
        *,
        moved_between(
            bytes, from_us, until_us, window_number * 300000000, (window_number + 1) * 300000000
        ) AS part_bytes,
        true_from_us >= window_number * 300000000 AND until_us <= (window_number + 1) * 300000000
            AS is_inside,
        from_us >= window_number * 300000000 AS starts_inside
    FROM cut
),

-- What a sample's estimate may be wrong by (reference/counters.md 3.6): of packets of one size, and
-- if as many as possible have the largest, 64 KiB, which only what a kernel put together has.
-- Numbers above those of any link are cut, so that no sum can be too large.
spread AS (
    SELECT
        *,
        LEAST(part_bytes, 70368744177664) AS sampled_bytes,
        LEAST(part_bytes, 65536) AS most_size,
        LEAST(part_bytes, 65536, GREATEST(bytes // NULLIF(packets, 0), 1)) AS even_size,
        CASE WHEN sampling_kind = 'packets' AND NOT is_rejected
            THEN CAST(sampling_interval AS HUGEINT) * (sampling_interval - 1)
        END AS unseen
    FROM parts
)

SELECT
    observer_number,
    local_number,
    party,
    peer_number,
    peer_port,
    transport,
    is_sending,
    window_number,
    is_sampled,
    CASE WHEN MIN(cluster) = MAX(cluster) THEN MIN(cluster) END AS cluster,
    COALESCE(SUM(part_bytes) FILTER (WHERE NOT is_rejected), 0) AS bytes,
    COALESCE(
        SUM(certain_bytes) FILTER (
            WHERE NOT is_rejected AND is_inside AND sampling_kind IN ('none', 'packets', 'flows')
        ),
        0
    ) AS min_bytes,
    COALESCE(SUM(bytes) FILTER (WHERE NOT is_rejected), 0) AS max_bytes,
    BOOL_OR(hides_bytes AND NOT is_rejected) AS hides_bytes,
    COALESCE(
        SUM(
            CAST(part_bytes AS HUGEINT)
            * CASE WHEN sampling_kind IN ('packets', 'flows') THEN sampling_interval ELSE 1 END
        ) FILTER (WHERE NOT is_rejected),
        0
    ) AS estimated_bytes,
    SUM(unseen * sampled_bytes * most_size) AS most_variance,
    SUM(unseen * sampled_bytes * even_size) AS even_variance,
    CASE WHEN MIN(sampling_kind) = MAX(sampling_kind) THEN MIN(sampling_kind) ELSE 'unknown' END
        AS sampling_kind,
    COALESCE(SUM(part_bytes) FILTER (WHERE is_rejected), 0) AS rejected_bytes,
    COALESCE(SUM(packets) FILTER (WHERE starts_inside AND NOT is_rejected), 0) AS packets,
    BOOL_OR(starts_inside AND NOT is_rejected AND packets IS NULL) AS lacks_packets,
    BOOL_OR(NOT is_rejected AND is_record AND COALESCE(packets, 0) = 0) AS lacks_sizes,
    COUNT(*) FILTER (WHERE is_record) AS record_count,
    MIN(own_rank) AS own_rank,
    BOOL_AND(is_gateway_interface) AS is_gateway_interface,
    BOOL_OR(sampling_kind = 'unknown') AS is_scale_unknown,
    BOOL_AND(is_unknown) AS is_unknown,
    MIN(peer_name) AS peer_name,
    MAX(peer_name) AS other_peer_name,
    BOOL_OR(peer_name IS NULL) AS lacks_name,
    MAX(LIST_POSITION(
        [
            'dns_pod', 'dns_node', 'dns_cluster', 'well_known_address', 'address_range', 'none',
            'ambiguous'
        ],
        name_kind
    )) AS name_rung,
    MIN(distance) AS distance,
    MAX(distance) AS other_distance,
    MIN(gateway) AS gateway,
    MAX(gateway) AS other_gateway,
    -- Layers are never mixed under one observer; of two the lower one is named.
    MIN(byte_layer) AS byte_layer,
    MAX(LIST_POSITION(
        ['address_window', 'node', 'shared_address', 'ambiguous', 'conflict', 'none'], match_kind
    )) AS match_rung,
    LIST_SORT(
        LIST(DISTINCT local_end) FILTER (WHERE match_kind IN ('ambiguous', 'conflict'))
    ) AS doubtful_ends,
    BOOL_OR(is_behind_nat) AS is_behind_nat
FROM spread
GROUP BY
    observer_number, local_number, party, peer_number, peer_port, transport, is_sending,
    window_number, is_sampled
