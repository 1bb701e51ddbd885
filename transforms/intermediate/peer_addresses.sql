-- Addresses at the ends of records, with a number in place of the text.
-- Grain: cluster (null: any), address.
-- Reads: volume_intervals, pod_intervals, node_states, nat_addresses.
-- Parameters: $start_us and $end_us (the day).
WITH ends AS (
    SELECT
        cluster,
        UNNEST([source, destination]) AS address
    FROM volume_intervals
    WHERE from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
),

seen AS (
    SELECT DISTINCT cluster, address
    FROM ends
    WHERE address IS NOT NULL
),

held AS (
    SELECT address FROM pod_intervals
    UNION
    SELECT UNNEST(addresses) AS address FROM node_states
)

SELECT
    CAST(ROW_NUMBER() OVER () AS INTEGER) AS address_number,
    cluster,
    address,
    is_private_address(address) AS is_private,
    is_public_address(address) AS is_public,
    address IN (SELECT address FROM held WHERE address IS NOT NULL) AS is_held,
    EXISTS (
        SELECT 1
        FROM nat_addresses AS n
        WHERE n.address = seen.address AND COALESCE(n.cluster = seen.cluster, TRUE)
    ) AS is_shared
FROM seen
