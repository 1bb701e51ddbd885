-- The provider's network that holds a public address, the longest one. Each length that occurs is
-- one key of a hash join, so that no address is compared with every network.
-- Grain: one different public address that some network holds.
-- Reads: range_input, address_ranges.
WITH spelled AS (
    SELECT DISTINCT address, address_bits(address) AS bits
    FROM range_input
    -- Without a list nothing is spelled.
    WHERE EXISTS (SELECT 1 FROM address_ranges) AND is_public_address(address)
),

lengths AS (
    SELECT DISTINCT LEFT(network, 1) AS family, prefix_length
    FROM address_ranges
),

keyed AS (
    SELECT s.address, LEFT(s.bits, CAST(l.prefix_length AS INTEGER) + 1) AS network
    FROM spelled AS s
    INNER JOIN lengths AS l ON LEFT(s.bits, 1) = l.family
)

SELECT k.address, r.provider, r.service, r.region
FROM keyed AS k
INNER JOIN address_ranges AS r ON k.network = r.network
QUALIFY ROW_NUMBER() OVER (PARTITION BY k.address ORDER BY r.prefix_length DESC) = 1
