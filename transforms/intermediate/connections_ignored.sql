-- Events of the day that belong to no connection, by the reason.
-- Grain: reason.
-- Reads: flows, connection_peers.
-- Parameters: $start_us and $end_us (the day).
WITH told AS (
    SELECT
        CASE
            WHEN agent_event IS NOT NULL THEN 'agent_event'
            WHEN event_type = 7 THEN 'socket'
            WHEN source_port = 53 OR destination_port = 53 THEN 'dns'
            WHEN source_address IS NULL OR destination_address IS NULL THEN 'masked'
            WHEN transport IS NULL OR transport NOT IN ('TCP', 'UDP', 'SCTP')
                THEN 'other_protocol'
            WHEN
                source_identity = 4 OR destination_identity = 4
                OR LIST_CONTAINS(source_labels, 'reserved:health')
                OR LIST_CONTAINS(destination_labels, 'reserved:health')
                THEN 'health'
        END AS reason,
        1 AS event_count
    FROM flows
    WHERE
        epoch_us(event_at) >= CAST($start_us AS BIGINT)
        AND epoch_us(event_at) < CAST($end_us AS BIGINT)
    UNION ALL
    SELECT ignored_as AS reason, event_count FROM connection_peers
)

SELECT reason, CAST(SUM(event_count) AS BIGINT) AS event_count
FROM told
WHERE reason IS NOT NULL
GROUP BY reason
