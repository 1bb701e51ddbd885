-- The path of bytes of flow records, as path_prices.py takes it, and who pays.
-- Who sends pays. The far end is in the cluster's cloud unless its name says that it is another
-- provider's storage; a host of S3 that names its region stands in it.
-- Grain: one row of cost_flows.
-- Reads: cost_flows, cost_peers, cost_regions, cluster_clouds, dependency_regions,
--   dependency_hosts, dependency_endpoints.
WITH storage AS (
    SELECT
        resource_id,
        MIN(CASE provider WHEN 's3' THEN 'aws' WHEN 'gcs' THEN 'gcp' ELSE provider END) AS provider
    FROM dependency_hosts
    WHERE provider IS NOT NULL
    GROUP BY resource_id
),

told AS (
    SELECT
        f.*,
        c.cloud,
        c.account_id,
        LOWER(COALESCE(g.region, r.region)) AS near,
        LOWER(COALESCE(
            n.region,
            NULLIF(REGEXP_EXTRACT(
                f.endpoint,
                '(?:^|\.)s3[.-](?:dualstack\.)?([a-z]+(?:-[a-z]+)+-[0-9]+)\.amazonaws\.com',
                1
            ), '')
        )) AS far,
        n.address IS NOT NULL AND n.cluster = f.cluster AS is_one_network,
        p.account_id AS peer_account,
        COALESCE(
            s.provider,
            CASE e.service
                WHEN 'Amazon S3' THEN 'aws'
                WHEN 'Google Cloud Storage' THEN 'gcp'
                WHEN 'Azure Blob Storage' THEN 'azure'
            END,
            -- The provider's own list, or its record, names the service.
            CASE WHEN UPPER(f.range_service) IN ('S3', 'AMAZON S3') THEN 'aws' END
        ) AS storage_provider,
        CASE
            WHEN is_private_address(f.peer_address) THEN TRUE
            WHEN is_public_address(f.peer_address) THEN FALSE
        END AS is_private,
        f.direction = 'receive' AS is_received
    FROM cost_flows AS f
    LEFT JOIN cluster_clouds AS c ON f.cluster = c.cluster
    LEFT JOIN dependency_regions AS g ON f.cluster = g.cluster AND f.pod_uid = g.pod_uid
    LEFT JOIN cost_regions AS r ON f.cluster = r.cluster
    LEFT JOIN cost_peers AS n ON f.peer_address = n.address
    LEFT JOIN cluster_clouds AS p ON n.cluster = p.cluster
    LEFT JOIN storage AS s ON f.resource_id = s.resource_id
    LEFT JOIN dependency_endpoints AS e ON f.endpoint = e.endpoint
),

judged AS (
    SELECT
        * EXCLUDE (distance, far),
        storage_provider IS NOT NULL AS is_storage,
        CASE
            WHEN distance = 'unknown' AND storage_provider <> cloud THEN 'internet'
            WHEN distance = 'unknown' AND storage_provider IS NOT NULL AND far = near
                THEN 'same_region'
            WHEN distance = 'unknown' AND storage_provider IS NOT NULL AND far <> near
                THEN 'cross_region'
            ELSE distance
        END AS distance,
        CASE
            WHEN distance IN ('same_node', 'same_zone', 'cross_zone', 'same_region')
                THEN COALESCE(far, near)
            ELSE far
        END AS far
    FROM told
),

directed AS (
    SELECT
        *,
        COALESCE(storage_provider, cloud) AS far_provider,
        is_received AND NOT is_storage AS is_incoming,
        CASE WHEN is_received THEN far ELSE near END AS from_region,
        CASE WHEN is_received THEN near ELSE far END AS to_region
    FROM judged
)

SELECT
    row_id([
        id_text(cloud), id_text(far_provider), id_text(distance), id_text(gateway),
        id_text(from_region), id_text(to_region), id_text(near), id_text(is_storage),
        id_text(is_received), id_text(is_private), id_text(is_one_network), 'flow'
    ]) AS path_id,
    cluster, run_uuid, resource_id, measured_by, bytes, min_bytes, max_bytes,
    CASE WHEN is_received THEN far_provider ELSE cloud END AS from_provider,
    CASE WHEN is_received THEN cloud ELSE far_provider END AS to_provider,
    cloud AS gateway_provider,
    near AS gateway_region,
    CAST(NULL AS VARCHAR) AS storage_provider,
    CAST(NULL AS VARCHAR) AS storage_region,
    CAST(NULL AS VARCHAR) AS operation,
    distance,
    gateway,
    from_region,
    to_region,
    is_storage,
    is_incoming,
    is_private,
    is_one_network,
    account_id AS cluster_account,
    CASE
        WHEN NOT is_received OR distance = 'same_node' THEN account_id
        WHEN distance = 'internet' AND is_incoming THEN account_id
        WHEN distance IN ('same_zone', 'cross_zone', 'same_region', 'cross_region')
            AND is_one_network THEN account_id
        ELSE peer_account
    END AS sender_account
FROM directed
