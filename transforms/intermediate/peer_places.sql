-- Where an address lies by what is not its node: the interface that observed it as its own, else the
-- longest subnet of the cluster that the settings state. A private address without either lies
-- nowhere.
-- Grain: address number, cluster; only those that something places.
-- Reads: peer_addresses, volume_intervals, cluster_subnets.
-- Parameters: $start_us and $end_us (the day).
WITH own AS (
    SELECT cluster, source AS address, region, zone_id
    FROM volume_intervals
    WHERE
        flow_direction = 'egress' AND instance_id IS NOT NULL
        AND from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
    UNION ALL
    SELECT cluster, destination AS address, region, zone_id
    FROM volume_intervals
    WHERE
        flow_direction = 'ingress' AND instance_id IS NOT NULL
        AND from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
),

-- A machine that forwards shows what others sent: public addresses are never its own, and what
-- machines of several places show is nobody's.
interfaces AS (
    SELECT
        a.address_number,
        CASE WHEN MIN(o.region) = MAX(o.region) THEN MIN(o.region) END AS region,
        CASE WHEN MIN(o.zone_id) = MAX(o.zone_id) THEN MIN(o.zone_id) END AS zone
    FROM own AS o
    INNER JOIN peer_addresses AS a
        ON o.cluster IS NOT DISTINCT FROM a.cluster AND o.address = a.address
    WHERE a.is_private
    GROUP BY a.address_number
    HAVING COUNT(o.region) > 0 OR COUNT(o.zone_id) > 0
),

lengths AS (
    SELECT DISTINCT cluster, LEFT(network, 1) AS family, prefix_length
    FROM cluster_subnets
),

spelled AS (
    SELECT address_number, cluster, address_bits(address) AS bits
    FROM peer_addresses
    WHERE EXISTS (SELECT 1 FROM cluster_subnets)
),

-- Records of no cluster may be of any: which one, the other end tells.
subnets AS (
    SELECT s.address_number, n.cluster, n.zone, n.region
    FROM spelled AS s
    INNER JOIN lengths AS l
        ON LEFT(s.bits, 1) = l.family AND COALESCE(s.cluster = l.cluster, TRUE)
    INNER JOIN cluster_subnets AS n
        ON l.cluster = n.cluster
        AND LEFT(s.bits, CAST(l.prefix_length AS INTEGER) + 1) = n.network
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY s.address_number, n.cluster ORDER BY n.prefix_length DESC
    ) = 1
)

SELECT
    COALESCE(s.address_number, i.address_number) AS address_number,
    s.cluster,
    COALESCE(i.region, s.region) AS region,
    -- The interface's zone, unless that is not told.
    COALESCE(i.zone, s.zone) AS zone
FROM subnets AS s
FULL OUTER JOIN interfaces AS i ON s.address_number = i.address_number
