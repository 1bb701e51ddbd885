-- object_transfers: the requests of one transfer.
-- Grain: one staged request.
-- Reads: object_requests.
-- Parameters: $provider, $bucket, $key, $version_id, $operation, $client_address, $principal,
--   $user_agent, $start_at, $end_at.
SELECT
    r.export_file_id AS export_file_id,
    r.record_id AS record_id,
    r.record_index AS record_index,
    r.event_at AS event_at
FROM object_requests AS r
WHERE
    r.provider = $provider
    AND r.bucket = $bucket
    AND r.key IS NOT DISTINCT FROM $key
    AND r.version_id IS NOT DISTINCT FROM $version_id
    AND r.operation = $operation
    AND r.client_address IS NOT DISTINCT FROM $client_address
    AND r.principal IS NOT DISTINCT FROM $principal
    AND r.user_agent IS NOT DISTINCT FROM $user_agent
    AND r.event_at >= $start_at
    AND r.event_at <= $end_at
ORDER BY r.event_at, r.record_id
