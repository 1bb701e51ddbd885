-- Events of connections whose moments count: those of pods that waited, and those that were reset.
-- Grain: one event of one connection.
-- Reads: flows, attempt_wanted.
WITH events AS (
    SELECT
        transport, epoch_us(event_at) AS us,
        source_address, source_port, destination_address, destination_port, tcp_flags
    FROM flows
    WHERE
        transport IN ('TCP', 'UDP', 'SCTP') AND event_at IS NOT NULL AND flow_count IS NULL
        AND event_type IS DISTINCT FROM 7
)

SELECT
    w.connection_id, e.us, FALSE AS is_reply,
    FALSE AS is_reset,
    COALESCE(e.tcp_flags = 'SYN', FALSE) AS is_opening
FROM events AS e
INNER JOIN attempt_wanted AS w
    ON e.transport = w.transport
    AND e.source_address = w.initiator_address
    AND e.source_port IS NOT DISTINCT FROM w.initiator_port
    AND e.destination_address = w.responder_address
    AND e.destination_port IS NOT DISTINCT FROM w.responder_port
    AND w.is_looked_for
    AND e.us >= w.begin_us - 2000000
    AND e.us <= w.end_us + 2000000
UNION ALL
SELECT
    w.connection_id, e.us, TRUE AS is_reply,
    COALESCE(CONTAINS(e.tcp_flags, 'RST'), FALSE) AS is_reset,
    FALSE AS is_opening
FROM events AS e
INNER JOIN attempt_wanted AS w
    ON e.transport = w.transport
    AND e.destination_address = w.initiator_address
    AND e.destination_port IS NOT DISTINCT FROM w.initiator_port
    AND e.source_address = w.responder_address
    AND e.source_port IS NOT DISTINCT FROM w.responder_port
    AND w.is_looked_for
    AND e.us >= w.begin_us - 2000000
    AND e.us <= w.end_us + 2000000
