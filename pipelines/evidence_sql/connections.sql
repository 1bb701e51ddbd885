-- connections: the exported events of one connection on one day.
-- Grain: one staged event.
-- Reads: flows.
-- Parameters: $cluster, $transport, $initiator_address, $initiator_port, $responder_address,
--   $responder_port, $start_at, $end_at (null while open).
SELECT
    f.export_file_id AS export_file_id,
    f.record_id AS record_id,
    f.record_index AS record_index,
    f.event_at AS event_at
FROM flows AS f
WHERE
    f.cluster = $cluster
    AND f.transport = $transport
    AND f.event_at >= $start_at - INTERVAL 2 SECOND
    AND ($end_at IS NULL OR f.event_at <= $end_at + INTERVAL 2 SECOND)
    AND (
        (
            f.source_address = $initiator_address
            AND f.source_port IS NOT DISTINCT FROM $initiator_port
            AND f.destination_address = $responder_address
            AND f.destination_port IS NOT DISTINCT FROM $responder_port
        )
        OR (
            f.destination_address = $initiator_address
            AND f.destination_port IS NOT DISTINCT FROM $initiator_port
            AND f.source_address = $responder_address
            AND f.source_port IS NOT DISTINCT FROM $responder_port
        )
    )
ORDER BY f.event_at, f.record_id
