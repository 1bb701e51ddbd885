-- Addresses outside the cluster, to be looked up in the providers' published networks.
-- Grain: one different address.
-- Reads: connection_peers.
SELECT DISTINCT responder_address AS address
FROM connection_peers
WHERE ignored_as IS NULL AND peer_kind IN ('outside', 'unknown')
