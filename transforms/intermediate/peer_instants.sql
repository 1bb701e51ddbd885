-- First and last instants of records at addresses that somebody holds.
-- Grain: address, instant.
-- Reads: peer_records, peer_addresses.
WITH ends AS (
    SELECT source_number AS address_number, UNNEST([from_us, until_us - 1]) AS at_us
    FROM peer_records
    UNION ALL
    SELECT destination_number AS address_number, UNNEST([from_us, until_us - 1]) AS at_us
    FROM peer_records
),

seen AS (
    SELECT DISTINCT e.address_number, e.at_us
    FROM ends AS e
    INNER JOIN peer_addresses AS a ON e.address_number = a.address_number AND a.is_held
)

SELECT CAST(ROW_NUMBER() OVER () AS BIGINT) AS instant, address_number, at_us
FROM seen
