-- Records as each of their local ends sees them, with the exchange that they belong to.
-- Grain: one record seen from one end.
-- Reads: peer_ended, peer_ends.
WITH ended AS (
    SELECT
        r.*,
        s.end_number AS source_end,
        d.end_number AS destination_end,
        COALESCE(s.match_kind <> 'none', FALSE) AS is_source_known,
        COALESCE(d.match_kind <> 'none', FALSE) AS is_destination_known
    FROM peer_ended AS r
    LEFT JOIN peer_ends AS s
        ON r.source_first = s.first_holder AND r.source_last = s.last_holder
    LEFT JOIN peer_ends AS d
        ON r.destination_first = d.first_holder AND r.destination_last = d.last_holder
),

judged AS (
    SELECT *, NOT is_source_known AND NOT is_destination_known AS is_unknown
    FROM ended
),

sides AS (
    SELECT
        observer_number, is_gateway_interface, is_unknown, tells_service, traffic_path, transport,
        true_from_us, from_us, until_us, bytes, certain_bytes, hides_bytes, is_record, packets,
        is_rejected, sampling_interval, sampling_kind, is_sampled, byte_layer,
        TRUE AS is_sending,
        source_number AS local_number,
        source_port AS local_port,
        source_end AS local_end,
        is_source_interface AS is_local_interface,
        destination_number AS peer_number,
        destination_port AS peer_port,
        destination_end AS peer_end,
        destination_service AS peer_service,
        CASE
            WHEN flow_direction = 'egress' OR reporter = 'SRC' THEN 0
            WHEN flow_direction = 'ingress' OR reporter = 'DEST' THEN 2
            ELSE 1
        END AS own_rank
    FROM judged
    WHERE is_source_known OR (is_unknown AND is_source_near)
    UNION ALL
    SELECT
        observer_number, is_gateway_interface, is_unknown, tells_service, traffic_path, transport,
        true_from_us, from_us, until_us, bytes, certain_bytes, hides_bytes, is_record, packets,
        is_rejected, sampling_interval, sampling_kind, is_sampled, byte_layer,
        FALSE AS is_sending,
        destination_number AS local_number,
        destination_port AS local_port,
        destination_end AS local_end,
        is_destination_interface AS is_local_interface,
        source_number AS peer_number,
        source_port AS peer_port,
        source_end AS peer_end,
        source_service AS peer_service,
        CASE
            WHEN flow_direction = 'ingress' OR reporter = 'DEST' THEN 0
            WHEN flow_direction = 'egress' OR reporter = 'SRC' THEN 2
            ELSE 1
        END AS own_rank
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
                    observer_number, local_number, local_port, peer_number, peer_port, transport
                ORDER BY from_us, until_us
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) > 600000000,
            TRUE
        ) AS begins
    FROM sides
),

-- The instant at which the exchange of each record began. Both ways of it share their intervals:
-- equal ones come in any order, so that they are looked at together.
begun AS (
    SELECT
        *,
        MAX(CASE WHEN begins THEN from_us END) OVER (
            PARTITION BY
                observer_number, local_number, local_port, peer_number, peer_port, transport
            ORDER BY from_us, until_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS began_us
    FROM spaced
),

paths AS (
    SELECT
        observer_number, local_number, local_port, peer_number, peer_port, transport, began_us,
        MIN(traffic_path) AS traffic_path
    FROM begun
    WHERE traffic_path IS NOT NULL
    GROUP BY ALL
    HAVING MIN(traffic_path) = MAX(traffic_path)
)

SELECT b.* EXCLUDE (begins), COALESCE(b.traffic_path, p.traffic_path) AS way
FROM begun AS b
LEFT JOIN paths AS p
    ON b.traffic_path IS NULL
    AND b.observer_number = p.observer_number
    AND b.local_number = p.local_number
    AND b.local_port IS NOT DISTINCT FROM p.local_port
    AND b.peer_number = p.peer_number
    AND b.peer_port IS NOT DISTINCT FROM p.peer_port
    AND b.transport IS NOT DISTINCT FROM p.transport
    AND b.began_us = p.began_us
