-- Bytes per local address, peer and direction in windows of five minutes.
-- Grain: key of peer_traffic.
-- Reads: peer_windows, peer_observers, peer_addresses, peer_ends, peer_shared.
-- Parameters: $most (longest list of candidates).
WITH parties AS (
    SELECT DISTINCT party, pod_uid, namespace, pod_name, run_uuid, attempt
    FROM peer_ends
    WHERE pod_uid IS NOT NULL
),

hours AS (
    SELECT
        observer_number, local_number, party, peer_number, peer_port, transport, is_sending,
        is_sampled,
        window_number // 12 AS hour_number,
        BOOL_AND(is_gateway_interface) AS is_gateway_interface,
        MIN(own_rank) AS own_rank,
        SUM(record_count) AS record_count,
        BOOL_AND(is_scale_unknown) AS is_scale_unknown
    FROM peer_windows
    GROUP BY
        observer_number, local_number, party, peer_number, peer_port, transport, is_sending,
        is_sampled, hour_number
),

-- A proxy opens a connection of its own: both ends' proxies name one exchange differently. Where an
-- end's own proxy tells what passed, what others tell of that end is the same again.
told_by AS (
    SELECT
        h.*,
        o.source_format,
        o.observer,
        o.source_format = 'proxy_access_log'
        AND h.own_rank > 0
        AND MIN(h.own_rank) OVER (
            PARTITION BY
                h.local_number, h.party, h.is_sending, h.is_sampled, h.hour_number, o.source_format
        ) = 0 AS is_told_by_own
    FROM hours AS h
    INNER JOIN peer_observers AS o USING (observer_number)
),

-- Several observers of one exchange in one hour saw the same bytes. One whose scale is not known
-- never counts, and takes no other's place.
observers AS (
    SELECT
        h.observer_number, h.local_number, h.party, h.peer_number, h.peer_port, h.transport,
        h.is_sending, h.is_sampled, h.hour_number
    FROM told_by AS h
    WHERE NOT h.is_told_by_own
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY
            h.local_number, h.party, h.peer_number, h.peer_port, h.transport, h.is_sending,
            h.is_sampled, h.hour_number, h.source_format
        ORDER BY
            h.is_scale_unknown, h.is_gateway_interface, h.own_rank, h.record_count DESC, h.observer
    ) = 1
),

sources AS (
    SELECT
        h.local_number, h.party, h.is_sending, h.hour_number, h.is_sampled, o.source_format
    FROM hours AS h
    INNER JOIN peer_observers AS o USING (observer_number)
    INNER JOIN peer_addresses AS a ON h.local_number = a.address_number
    WHERE NOT h.is_scale_unknown
    GROUP BY
        h.local_number, h.party, h.is_sending, h.hour_number, h.is_sampled, o.source_format,
        o.scope, a.address
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY
            a.address, h.party, h.is_sending, h.hour_number,
            CASE WHEN h.party = 0 THEN o.scope END
        ORDER BY h.is_sampled, o.source_format, o.scope
    ) = 1
),

-- Pods of each set of ends that several pods may have.
doubts AS (
    SELECT doubtful_ends, LIST_SORT(LIST(DISTINCT pod_uid)) AS pods
    FROM (
        SELECT s.doubtful_ends, UNNEST(e.candidates) AS pod_uid
        FROM (
            SELECT doubtful_ends, UNNEST(doubtful_ends) AS end_number
            FROM (
                SELECT DISTINCT doubtful_ends FROM peer_windows WHERE LEN(doubtful_ends) > 0
            ) AS sets
        ) AS s
        INNER JOIN peer_ends AS e ON s.end_number = e.end_number
    ) AS pods_of_sets
    GROUP BY doubtful_ends
),

told AS (
    SELECT
        w.*,
        CASE
            WHEN w.is_behind_nat AND w.doubtful_ends IS NULL THEN h.pods
            WHEN NOT w.is_behind_nat AND LEN(d.pods) <= CAST($most AS BIGINT) THEN d.pods
        END AS candidate_pod_uids,
        v.scope,
        v.observer,
        l.address AS local_address,
        p.address AS peer_address,
        y.pod_uid,
        y.namespace,
        y.pod_name,
        y.run_uuid,
        y.attempt,
        CASE WHEN w.is_sending THEN 'transmit' ELSE 'receive' END AS direction,
        CASE WHEN w.is_sampled THEN 'sampled_flow_record' ELSE 'flow_record' END AS measured_by,
        o.observer_number IS NOT NULL
        AND s.source_format IS NOT NULL
        AND NOT w.is_scale_unknown
        AND NOT (w.is_unknown AND w.is_gateway_interface) AS is_chosen
    FROM peer_windows AS w
    INNER JOIN peer_observers AS v ON w.observer_number = v.observer_number
    INNER JOIN peer_addresses AS l ON w.local_number = l.address_number
    INNER JOIN peer_addresses AS p ON w.peer_number = p.address_number
    LEFT JOIN parties AS y ON w.party = y.party
    LEFT JOIN doubts AS d ON w.doubtful_ends = d.doubtful_ends
    LEFT JOIN peer_shared AS h
        ON w.is_behind_nat
        AND w.local_number = h.local_number
        AND w.window_number = h.window_number
    LEFT JOIN observers AS o
        ON w.observer_number = o.observer_number
        AND w.local_number = o.local_number
        AND w.party = o.party
        AND w.peer_number = o.peer_number
        AND w.peer_port IS NOT DISTINCT FROM o.peer_port
        AND w.transport IS NOT DISTINCT FROM o.transport
        AND w.is_sending = o.is_sending
        AND w.is_sampled = o.is_sampled
        AND w.window_number // 12 = o.hour_number
    LEFT JOIN sources AS s
        ON w.local_number = s.local_number
        AND w.party = s.party
        AND w.is_sending = s.is_sending
        AND w.window_number // 12 = s.hour_number
        AND w.is_sampled = s.is_sampled
        AND v.source_format = s.source_format
)

SELECT
    row_id([
        id_text(scope), id_text(local_address), id_text(pod_uid), id_text(peer_address),
        id_text(peer_port), id_text(transport), id_text(direction),
        id_text(window_number * 300000000), id_text(measured_by), id_text(observer)
    ]) AS peer_traffic_id,
    scope,
    cluster,
    local_address,
    pod_uid,
    namespace,
    pod_name,
    run_uuid,
    attempt,
    peer_address,
    peer_port,
    transport,
    direction,
    make_timestamptz(window_number * 300000000) AS window_start_at,
    -- Records that claim more than 64 bits of bytes must not stop the day.
    CAST(LEAST(bytes, 9223372036854775807) AS BIGINT) AS bytes,
    CAST(LEAST(min_bytes, 9223372036854775807) AS BIGINT) AS min_bytes,
    CASE
        WHEN NOT is_sampled AND NOT hides_bytes
            THEN CAST(LEAST(max_bytes, 9223372036854775807) AS BIGINT)
    END AS max_bytes,
    CASE
        WHEN is_sampled AND sampling_kind <> 'unknown'
            THEN CAST(LEAST(estimated_bytes, 9223372036854775807) AS BIGINT)
    END AS estimated_bytes,
    sampling_kind,
    CASE WHEN NOT lacks_packets THEN CAST(LEAST(packets, 9223372036854775807) AS BIGINT) END
        AS packets,
    CASE WHEN peer_name = other_peer_name AND NOT lacks_name THEN peer_name END AS peer_name,
    CASE
        WHEN peer_name <> other_peer_name THEN 'ambiguous'
        WHEN lacks_name AND name_rung < 6 THEN 'none'
        ELSE [
            'dns_pod', 'dns_node', 'dns_cluster', 'well_known_address', 'address_range', 'none',
            'ambiguous'
        ][name_rung]
    END AS name_kind,
    CASE WHEN distance = other_distance THEN distance ELSE 'unknown' END AS distance,
    CASE WHEN gateway = other_gateway THEN gateway ELSE 'unknown' END AS gateway,
    CASE
        WHEN sampling_kind = 'packets' AND estimated_bytes > 0
            THEN 1.96 * SQRT(CAST(most_variance AS DOUBLE)) / CAST(estimated_bytes AS DOUBLE)
    END AS sampling_error_ratio,
    CASE
        WHEN sampling_kind = 'packets' AND estimated_bytes > 0 AND NOT lacks_sizes
            THEN 1.96 * SQRT(CAST(even_variance AS DOUBLE)) / CAST(estimated_bytes AS DOUBLE)
    END AS min_sampling_error_ratio,
    measured_by,
    byte_layer,
    observer,
    ['address_window', 'node', 'shared_address', 'ambiguous', 'conflict', 'none'][match_rung]
        AS match_kind,
    CASE WHEN LEN(candidate_pod_uids) > 0 THEN candidate_pod_uids END AS candidate_pod_uids,
    is_chosen,
    CAST(LEAST(rejected_bytes, 9223372036854775807) AS BIGINT) AS rejected_bytes
FROM told
