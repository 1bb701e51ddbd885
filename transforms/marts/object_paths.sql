-- The path of each object transfer of the day, as path_prices.py takes it, and who pays.
-- Distance is that of the regions; of different clouds, or of none known, the reader's name of a
-- region says nothing. The gateway is the endpoint's that the host names or the settings know, else
-- NAT where the settings share the client's address, else what all flow records of that pod to that
-- host say.
-- Bytes read are sent by the storage, bytes written by the client: who sends pays, the bucket's
-- owner or, where the settings say so, the requester.
-- Grain: one object transfer of the day.
-- Reads: object_transfers, path_gateways, cluster_clouds, cluster_endpoints, nat_addresses,
--   bucket_owners.
-- Parameters: $date.
WITH today AS (
    SELECT
        transfer_id, provider, bucket, operation, client_address, principal, pod_uid,
        LOWER(endpoint) AS endpoint,
        vpc_endpoint_id,
        LOWER(reader_region) AS reader_region,
        LOWER(bucket_region) AS bucket_region,
        cluster,
        CASE provider WHEN 's3' THEN 'aws' WHEN 'gcs' THEN 'gcp' ELSE provider END
            AS storage_provider
    FROM object_transfers
    WHERE date = CAST($date AS DATE)
),

shared AS (
    SELECT
        address,
        CASE WHEN COUNT(*) = COUNT(cluster) AND COUNT(DISTINCT cluster) = 1 THEN MIN(cluster) END
            AS cluster
    FROM nat_addresses
    GROUP BY address
),

owned AS (
    SELECT
        t.bucket,
        ARG_MIN(o.account_id, o.ordinal) AS account_id,
        ARG_MIN(o.requester_pays, o.ordinal) AS requester_pays
    FROM (SELECT DISTINCT bucket FROM today) AS t
    INNER JOIN bucket_owners AS o ON t.bucket GLOB o.pattern
    GROUP BY t.bucket
),

placed AS (
    SELECT
        t.*,
        s.address IS NOT NULL AS is_shared,
        COALESCE(t.cluster, s.cluster) AS payer,
        -- The first pattern that holds speaks, even where it states no account.
        o.account_id AS owner_account,
        COALESCE(o.requester_pays, FALSE) AS requester_pays
    FROM today AS t
    LEFT JOIN shared AS s ON t.client_address = s.address
    LEFT JOIN owned AS o ON t.bucket = o.bucket
),

told AS (
    SELECT
        p.*,
        c.cloud AS reader_provider,
        c.account_id AS cluster_account,
        COALESCE(p.reader_region, CASE WHEN p.cluster IS NULL THEN LOWER(c.region) END) AS near,
        CASE
            WHEN c.cloud <> p.storage_provider AND p.storage_provider IN ('aws', 'gcp', 'azure')
                THEN 'internet'
            WHEN p.reader_region = p.bucket_region THEN 'same_region'
            WHEN p.reader_region <> p.bucket_region THEN 'cross_region'
            ELSE 'unknown'
        END AS distance,
        CASE
            WHEN p.endpoint LIKE '%.vpce.amazonaws.com' THEN 'interface_endpoint'
            WHEN e.kind IS NOT NULL THEN e.kind || '_endpoint'
            WHEN p.is_shared THEN 'nat'
            -- A gateway endpoint leads to the storage of its own region alone.
            WHEN
                p.reader_region <> p.bucket_region
                AND COALESCE(g.gateway, h.gateway) = 'gateway_endpoint'
                THEN 'unknown'
            ELSE COALESCE(g.gateway, h.gateway, 'unknown')
        END AS gateway,
        CASE
            WHEN p.vpc_endpoint_id IS NOT NULL OR is_private_address(p.client_address) THEN TRUE
            WHEN is_public_address(p.client_address) THEN FALSE
        END AS is_private
    FROM placed AS p
    LEFT JOIN cluster_clouds AS c ON p.payer = c.cluster
    LEFT JOIN cluster_endpoints AS e ON p.vpc_endpoint_id = e.endpoint_id
    LEFT JOIN path_gateways AS g ON p.pod_uid = g.pod_uid AND p.endpoint = g.place
    LEFT JOIN path_gateways AS h
        ON p.provider = 's3' AND p.pod_uid = h.pod_uid AND h.place = 'S3'
),

directed AS (
    SELECT
        transfer_id, bucket, vpc_endpoint_id, payer, operation, requester_pays, owner_account,
        cluster_account, principal, storage_provider, reader_provider, distance, gateway,
        is_private,
        bucket_region AS storage_region,
        near,
        -- A client of no known cluster may stand anywhere: its gateways are not ours to charge.
        operation = 'write' AND payer IS NOT NULL AS is_sent_by_cluster,
        operation = 'write' AND payer IS NULL AS is_incoming,
        CASE WHEN operation = 'write' THEN near ELSE bucket_region END AS from_region,
        CASE WHEN operation = 'write' THEN bucket_region ELSE near END AS to_region,
        CASE WHEN operation = 'write' THEN reader_provider ELSE storage_provider END
            AS from_provider,
        CASE WHEN operation = 'write' THEN storage_provider ELSE reader_provider END AS to_provider
    FROM told
)

SELECT
    row_id([
        id_text(from_provider), id_text(to_provider), id_text(reader_provider),
        id_text(storage_provider), id_text(operation), id_text(distance), id_text(gateway),
        id_text(from_region), id_text(to_region), id_text(is_private), id_text(is_incoming)
    ]) AS path_id,
    transfer_id,
    from_provider,
    to_provider,
    reader_provider AS gateway_provider,
    near AS gateway_region,
    storage_provider,
    storage_region,
    operation,
    distance,
    gateway,
    from_region,
    to_region,
    TRUE AS is_storage,
    is_incoming,
    is_private,
    FALSE AS is_one_network,
    payer,
    bucket,
    vpc_endpoint_id,
    -- Bytes that leave a cluster's region for another are the sender's, all else the bucket's.
    is_sent_by_cluster AND distance IN ('cross_region', 'internet', 'unknown') AS is_cluster_paying,
    cluster_account,
    CASE
        WHEN requester_pays
            THEN NULLIF(
                REGEXP_EXTRACT(principal, '^arn:aws[a-z-]*:(?:iam|sts)::([0-9]{12}):', 1), ''
            )
        ELSE owner_account
    END AS bucket_account
FROM directed
