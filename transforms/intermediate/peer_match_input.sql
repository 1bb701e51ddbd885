-- Instants to be matched to pods.
-- Grain: one instant of one address.
-- Reads: peer_instants, peer_addresses.
SELECT
    i.instant AS item_id,
    a.cluster,
    a.address,
    CAST(NULL AS VARCHAR) AS namespace,
    CAST(NULL AS VARCHAR) AS pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    make_timestamptz(i.at_us) AS event_at
FROM peer_instants AS i
INNER JOIN peer_addresses AS a USING (address_number)
