-- Events that can belong to a connection, with the ends in an order that does not depend on the
-- direction (`a` and `b`), and what each event says of who began.
-- Grain: one event (a view; readers add the range of time).
-- Reads: flows.
WITH classed AS (
    SELECT
        *,
        epoch_us(event_at) AS event_us,
        -- Identities of the cluster are pods; local ones (CIDR, node) are told by their labels.
        CASE
            WHEN source_identity = 1 THEN 'host'
            WHEN source_identity = 4 THEN 'health'
            WHEN source_identity = 6 THEN 'remote_node'
            WHEN source_identity IN (2, 9, 10) THEN 'world'
            WHEN source_identity BETWEEN 256 AND 16777215 THEN 'pod'
            WHEN LIST_CONTAINS(source_labels, 'reserved:health') THEN 'health'
            WHEN LIST_CONTAINS(source_labels, 'reserved:host') THEN 'host'
            WHEN LIST_CONTAINS(source_labels, 'reserved:remote-node') THEN 'remote_node'
            WHEN
                LIST_CONTAINS(source_labels, 'reserved:world')
                OR LIST_CONTAINS(source_labels, 'reserved:world-ipv4')
                OR LIST_CONTAINS(source_labels, 'reserved:world-ipv6')
                THEN 'world'
            WHEN LEN(LIST_FILTER(source_labels, LAMBDA x: STARTS_WITH(x, 'k8s:'))) > 0 THEN 'pod'
        END AS source_class,
        CASE
            WHEN destination_identity = 1 THEN 'host'
            WHEN destination_identity = 4 THEN 'health'
            WHEN destination_identity = 6 THEN 'remote_node'
            WHEN destination_identity IN (2, 9, 10) THEN 'world'
            WHEN destination_identity BETWEEN 256 AND 16777215 THEN 'pod'
            WHEN LIST_CONTAINS(destination_labels, 'reserved:health') THEN 'health'
            WHEN LIST_CONTAINS(destination_labels, 'reserved:host') THEN 'host'
            WHEN LIST_CONTAINS(destination_labels, 'reserved:remote-node') THEN 'remote_node'
            WHEN
                LIST_CONTAINS(destination_labels, 'reserved:world')
                OR LIST_CONTAINS(destination_labels, 'reserved:world-ipv4')
                OR LIST_CONTAINS(destination_labels, 'reserved:world-ipv6')
                THEN 'world'
            WHEN LEN(LIST_FILTER(destination_labels, LAMBDA x: STARTS_WITH(x, 'k8s:'))) > 0
                THEN 'pod'
        END AS destination_class,
        source_identity = 7 OR LIST_CONTAINS(source_labels, 'reserved:kube-apiserver')
            AS source_is_api_server,
        destination_identity = 7 OR LIST_CONTAINS(destination_labels, 'reserved:kube-apiserver')
            AS destination_is_api_server,
        COALESCE(CONTAINS(tcp_flags, 'SYN'), FALSE) AS has_syn,
        COALESCE(CONTAINS(tcp_flags, 'ACK'), FALSE) AS has_ack,
        COALESCE(CONTAINS(tcp_flags, 'FIN') OR CONTAINS(tcp_flags, 'RST'), FALSE) AS is_ending,
        COALESCE(CONTAINS(tcp_flags, 'RST'), FALSE) AS has_rst,
        (source_address, COALESCE(source_port, -1))
        <= (destination_address, COALESCE(destination_port, -1)) AS source_is_a
    FROM flows
    WHERE
        transport IN ('TCP', 'UDP', 'SCTP')
        AND event_type IS DISTINCT FROM 7
        AND agent_event IS NULL
        AND flow_count IS NULL
        AND event_at IS NOT NULL
        AND source_address IS NOT NULL
        AND destination_address IS NOT NULL
        AND source_port IS DISTINCT FROM 53
        AND destination_port IS DISTINCT FROM 53
),

judged AS (
    SELECT
        *,
        CASE
            WHEN is_reply IS NOT NULL THEN NOT is_reply
            WHEN trace_reason IN ('NEW', 'ESTABLISHED', 'REOPENED') THEN TRUE
            WHEN trace_reason = 'REPLY' THEN FALSE
            WHEN has_syn THEN NOT has_ack
        END AS source_is_initiator,
        CASE
            WHEN is_reply IS NOT NULL THEN 1
            WHEN trace_reason IN ('NEW', 'ESTABLISHED', 'REOPENED', 'REPLY') THEN 2
            WHEN has_syn THEN 3
        END AS orientation_rung
    FROM classed
    -- No end of class `health`, told without the rest of the class, which not every reader needs.
    WHERE
        NOT is_health_end(source_identity, source_labels)
        AND NOT is_health_end(destination_identity, destination_labels)
)

SELECT
    * EXCLUDE (cluster, source_labels, destination_labels),
    CASE WHEN source_is_a THEN source_address ELSE destination_address END AS a_address,
    CASE WHEN source_is_a THEN source_port ELSE destination_port END AS a_port,
    CASE WHEN source_is_a THEN destination_address ELSE source_address END AS b_address,
    CASE WHEN source_is_a THEN destination_port ELSE source_port END AS b_port,
    COALESCE(
        source_is_initiator AND ((has_syn AND NOT has_ack) OR trace_reason = 'NEW'), FALSE
    ) AS is_opening
FROM judged
