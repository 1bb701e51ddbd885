-- Peers that nobody in the fleet holds, to be looked up in the providers' published networks.
-- Grain: one different address.
-- Reads: peer_addresses.
SELECT DISTINCT address
FROM peer_addresses
WHERE is_public AND NOT is_held
