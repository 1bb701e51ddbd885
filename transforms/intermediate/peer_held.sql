-- Who holds an address at an instant.
-- Grain: address, instant.
-- Reads: peer_instants, match_output, peer_holders.
SELECT i.address_number, i.at_us, h.holder
FROM peer_instants AS i
INNER JOIN match_output AS m ON i.instant = m.item_id
INNER JOIN peer_holders AS h
    ON CONCAT_WS(
        '/', m.match_kind, m.cluster, m.pod_uid, m.node,
        ARRAY_TO_STRING(m.candidate_pod_uids, ',')
    ) = h.holder_key
