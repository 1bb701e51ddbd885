-- Requests to image registries whose bytes their log tells, with those bytes; a client that was sent
-- elsewhere got them from there.
-- Grain: one request of one log.
-- Reads: registry_requests.
-- Parameters: $day_start, $day_end.
WITH moved AS (
    SELECT
        *,
        CASE operation WHEN 'read' THEN 'receive' WHEN 'write' THEN 'transmit' END AS direction,
        CASE operation WHEN 'read' THEN response_bytes WHEN 'write' THEN request_bytes END AS bytes
    FROM registry_requests
    WHERE
        event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
        AND status BETWEEN 200 AND 299
        AND log_kind <> 'audit'
        AND NOT COALESCE(is_redirected, FALSE)
)

SELECT
    ROW_NUMBER() OVER (ORDER BY record_id, export_file_id, record_index, row_index) AS item_id,
    cluster,
    client_address AS address,
    CAST(NULL AS VARCHAR) AS namespace,
    CAST(NULL AS VARCHAR) AS pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    event_at,
    provider,
    log_kind,
    direction,
    bytes
FROM moved
WHERE bytes > 0 AND client_address IS NOT NULL
