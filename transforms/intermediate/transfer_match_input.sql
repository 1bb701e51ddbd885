-- transfer_match_input: what names the client of each transfer, at its first request.
-- Grain: (item_id), a transfer.
-- Reads: transfer_bursts.
-- Parameters: none.
SELECT
    transfer_id AS item_id,
    CAST(NULL AS VARCHAR) AS cluster,
    client_address AS address,
    CAST(NULL AS VARCHAR) AS namespace,
    CAST(NULL AS VARCHAR) AS pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    make_timestamptz(first_us) AS event_at
FROM transfer_bursts
