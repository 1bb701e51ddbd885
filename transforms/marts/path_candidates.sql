-- Paths that the evidence on a path does not exclude (definitions.md 40), as distance and gateway.
-- A proxy and a transit gateway are candidates only where the evidence shows them: the price of
-- what stands behind a proxy is another path's, and a transit gateway may stand in every path.
-- Grain: one path and candidate.
-- Reads: paths (path_prices.py says what its columns are).
WITH distances AS (
    SELECT
        *,
        UNNEST(CASE
            -- A host of the region stands in some zone of it; storage and endpoints are regional.
            WHEN
                distance = 'same_region'
                AND NOT is_storage
                AND gateway NOT IN ('gateway_endpoint', 'interface_endpoint')
                THEN ['same_zone', 'cross_zone']
            WHEN distance <> 'unknown' THEN [distance]
            WHEN gateway = 'gateway_endpoint' THEN ['same_region']
            WHEN gateway = 'interface_endpoint' THEN ['same_region', 'cross_region']
            -- From a cloud to its own storage bytes never count as internet.
            WHEN is_storage AND from_provider = to_provider THEN ['same_region', 'cross_region']
            WHEN gateway = 'nat' THEN ['same_region', 'cross_region', 'internet']
            WHEN gateway IN ('peering', 'transit') AND is_storage
                THEN ['same_region', 'cross_region']
            WHEN gateway IN ('peering', 'transit') THEN ['same_zone', 'cross_zone', 'cross_region']
            WHEN is_storage AND is_private THEN ['same_region', 'cross_region']
            WHEN is_private THEN ['same_node', 'same_zone', 'cross_zone', 'cross_region']
            ELSE ['same_region', 'cross_region', 'internet']
        END) AS candidate_distance
    FROM paths
),

gateways AS (
    SELECT
        *,
        UNNEST(CASE
            WHEN gateway <> 'unknown' THEN [gateway]
            WHEN candidate_distance IN ('same_node', 'same_zone', 'cross_zone') AND is_one_network
                THEN ['none']
            WHEN candidate_distance = 'same_node' THEN ['none']
            WHEN candidate_distance = 'internet' THEN ['none', 'nat']
            -- A public address that storage saw is a machine's own or a gateway's.
            WHEN is_storage AND NOT is_private THEN ['none', 'nat']
            -- S3 sees a private address only through an endpoint; other clouds' storage also
            -- within the provider's network, at no charge.
            WHEN is_storage AND is_private AND from_provider IS DISTINCT FROM 'aws'
                AND to_provider IS DISTINCT FROM 'aws'
                THEN ['none', 'interface_endpoint']
            -- A gateway endpoint leads to the storage of its own region.
            WHEN is_storage AND is_private AND candidate_distance = 'same_region'
                THEN ['gateway_endpoint', 'interface_endpoint']
            WHEN is_storage AND is_private THEN ['none', 'interface_endpoint']
            WHEN is_storage AND candidate_distance = 'same_region'
                THEN ['none', 'nat', 'gateway_endpoint', 'interface_endpoint']
            WHEN is_storage THEN ['none', 'nat', 'interface_endpoint']
            WHEN is_one_network THEN ['none']
            WHEN is_private AND distance = 'unknown' THEN ['none', 'peering', 'interface_endpoint']
            WHEN is_private OR candidate_distance IN ('same_zone', 'cross_zone')
                THEN ['none', 'peering']
            ELSE ['none', 'nat']
        END) AS candidate_gateway
    FROM distances
)

SELECT
    * EXCLUDE (distance, gateway, candidate_distance, candidate_gateway),
    candidate_distance AS distance,
    candidate_gateway AS gateway,
    CASE WHEN candidate_distance = 'internet' AND is_incoming THEN 'from_internet'
        ELSE candidate_distance END
        || CASE WHEN candidate_gateway = 'none' THEN '' ELSE '/' || candidate_gateway END
        AS candidate
FROM gateways
