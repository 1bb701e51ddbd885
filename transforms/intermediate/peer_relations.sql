-- How far a peer is, and by what, for ends, addresses and ways that occur together.
-- Grain: both ends, both addresses, way, peer's service, what the records can tell.
-- Reads: peer_sides, peer_ends, peer_addresses, peer_places, node_places, agreed_regions,
--   cluster_accounts, cluster_zones, cluster_endpoints, range_output, listed_providers.
WITH seen AS (
    SELECT DISTINCT
        local_end, local_number, is_local_interface, peer_end, peer_number, way, peer_service,
        tells_service
    FROM peer_sides
),

ended AS (
    SELECT
        s.*,
        la.is_held AS is_local_held,
        pa.is_private,
        pa.is_public,
        pa.is_held AS is_peer_held,
        pa.address AS peer_address,
        -- A private address is one of the cluster that the other end, or the records, are of.
        COALESCE(l.cluster, la.cluster) AS local_cluster,
        COALESCE(r.cluster, l.cluster, pa.cluster) AS peer_cluster,
        r.cluster AS known_peer_cluster,
        CASE WHEN NOT (l.match_kind = 'node' AND s.is_local_interface) THEN l.node END
            AS local_node,
        r.node AS peer_node
    FROM seen AS s
    INNER JOIN peer_addresses AS la ON s.local_number = la.address_number
    INNER JOIN peer_addresses AS pa ON s.peer_number = pa.address_number
    LEFT JOIN peer_ends AS l ON s.local_end = l.end_number
    LEFT JOIN peer_ends AS r ON s.peer_end = r.end_number
),

placed AS (
    SELECT
        e.*,
        COALESCE(a.zone, i.zone, n.zone) AS local_zone,
        COALESCE(a.region, i.region, n.region, g.region) AS local_region,
        COALESCE(b.zone, j.zone, m.zone) AS peer_zone,
        COALESCE(
            b.region, j.region, m.region,
            CASE WHEN e.known_peer_cluster IS NOT NULL THEN h.region END
        ) AS peer_region
    FROM ended AS e
    LEFT JOIN node_places AS a ON e.local_cluster = a.cluster AND e.local_node = a.node
    LEFT JOIN node_places AS b ON e.known_peer_cluster = b.cluster AND e.peer_node = b.node
    LEFT JOIN peer_places AS n ON e.local_number = n.address_number AND e.local_cluster = n.cluster
    LEFT JOIN peer_places AS m ON e.peer_number = m.address_number AND e.peer_cluster = m.cluster
    LEFT JOIN peer_places AS i ON e.local_number = i.address_number AND i.cluster IS NULL
    LEFT JOIN peer_places AS j ON e.peer_number = j.address_number AND j.cluster IS NULL
    LEFT JOIN agreed_regions AS g ON e.local_cluster = g.cluster AND e.is_local_held
    LEFT JOIN agreed_regions AS h ON e.known_peer_cluster = h.cluster
),

-- The id of a zone is the same in every account, its name is an account's own.
identified AS (
    SELECT
        p.*,
        COALESCE(
            y.zone_id, CASE WHEN REGEXP_MATCHES(p.local_zone, '-az[0-9]+$') THEN p.local_zone END
        ) AS local_zone_id,
        COALESCE(
            z.zone_id, CASE WHEN REGEXP_MATCHES(p.peer_zone, '-az[0-9]+$') THEN p.peer_zone END
        ) AS peer_zone_id,
        COALESCE(p.local_cluster = p.peer_cluster OR x.account_id = w.account_id, FALSE)
            AS is_one_account,
        x.cloud
    FROM placed AS p
    LEFT JOIN cluster_zones AS y
        ON p.local_cluster = y.cluster AND p.local_zone IN (y.zone_id, y.zone_name)
    LEFT JOIN cluster_zones AS z
        ON p.peer_cluster = z.cluster AND p.peer_zone IN (z.zone_id, z.zone_name)
    LEFT JOIN cluster_accounts AS x ON p.local_cluster = x.cluster
    LEFT JOIN cluster_accounts AS w ON p.peer_cluster = w.cluster
),

compared AS (
    SELECT
        i.*,
        CASE
            WHEN i.local_zone_id IS NOT NULL AND i.peer_zone_id IS NOT NULL
                THEN i.local_zone_id = i.peer_zone_id
            -- An id and a name without the list of both say nothing of each other.
            WHEN i.local_zone_id IS NULL AND i.peer_zone_id IS NULL AND i.is_one_account
                THEN i.local_zone = i.peer_zone
        END AS is_one_zone,
        -- What the provider lists is looked up for public addresses of nobody in the fleet.
        g.address IS NOT NULL AS is_listed,
        g.provider AS listed_provider,
        g.region AS listed_region,
        CASE WHEN NOT i.is_peer_held THEN g.service END AS range_service,
        v.provider IS NOT NULL AS is_provider_listed,
        p.endpoint_id
    FROM identified AS i
    LEFT JOIN range_output AS g ON i.peer_address = g.address AND NOT i.is_peer_held
    LEFT JOIN listed_providers AS v ON i.cloud = v.provider
    LEFT JOIN cluster_endpoints AS p
        ON i.peer_cluster = p.cluster AND i.peer_address = p.address
)

SELECT
    local_end,
    local_number,
    is_local_interface,
    peer_end,
    peer_number,
    way,
    peer_service,
    tells_service,
    range_service,
    CASE
        WHEN local_node = peer_node AND local_cluster = known_peer_cluster THEN 'same_node'
        WHEN local_region <> peer_region THEN 'cross_region'
        WHEN local_region = peer_region AND is_one_zone THEN 'same_zone'
        WHEN local_region = peer_region AND NOT is_one_zone THEN 'cross_zone'
        WHEN local_region = peer_region THEN 'same_region'
        WHEN way = '5' THEN 'cross_region'
        WHEN way IN ('1', '4') AND is_private THEN 'same_region'
        WHEN way = '7' THEN 'same_region'
        WHEN listed_provider <> cloud THEN 'internet'
        WHEN listed_provider = cloud AND listed_region <> local_region THEN 'cross_region'
        WHEN listed_provider = cloud AND listed_region = local_region THEN 'same_region'
        WHEN
            way IN ('2', '8') AND is_public AND peer_service IS NULL AND NOT is_listed
            AND (tells_service OR is_provider_listed)
            THEN 'internet'
        ELSE 'unknown'
    END AS distance,
    CASE
        WHEN endpoint_id IS NOT NULL THEN 'interface_endpoint'
        WHEN way = '1' AND is_private THEN 'none'
        WHEN way = '8' THEN 'none'
        WHEN way IN ('4', '5') THEN 'peering'
        WHEN way = '7' THEN 'gateway_endpoint'
        ELSE 'unknown'
    END AS gateway
FROM compared
