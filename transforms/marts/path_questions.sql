-- What is charged on each candidate path, and by which facts its price is looked up.
-- Processing is charged in the gateway's region. Who sends pays: where the sender is outside any
-- cloud known, the receiver's provider says what it takes.
-- Usage types are those of AWS without region codes (reference: aws-usage-report-understand.md) and
-- the words of Google's; of deletions and of other providers none is known.
-- Grain: one path, kind of charge and candidate.
-- Reads: path_candidates, paths.
WITH charged AS (
    SELECT
        path_id, candidate, distance, gateway, is_storage,
        is_incoming,
        'transfer' AS charge_kind,
        CASE WHEN distance = 'internet' AND is_incoming THEN to_provider ELSE from_provider END
            AS provider,
        CASE
            WHEN distance = 'internet' AND is_incoming THEN 'internet'
            WHEN distance IN ('internet', 'cross_region') THEN from_region
            ELSE COALESCE(from_region, to_region)
        END AS from_region,
        CASE
            WHEN distance = 'internet' AND NOT is_incoming THEN 'internet'
            WHEN distance IN ('internet', 'cross_region') THEN to_region
            ELSE COALESCE(to_region, from_region)
        END AS to_region,
        operation
    FROM path_candidates
    UNION ALL
    SELECT
        path_id, candidate, distance, gateway, is_storage, is_incoming,
        CASE WHEN gateway = 'nat' THEN 'nat_processing' ELSE 'endpoint_processing' END
            AS charge_kind,
        gateway_provider AS provider,
        gateway_region AS from_region,
        gateway_region AS to_region,
        operation
    FROM path_candidates
    WHERE gateway IN ('nat', 'interface_endpoint', 'transit')
    UNION ALL
    SELECT
        path_id,
        CAST(NULL AS VARCHAR) AS candidate,
        distance, gateway, is_storage, is_incoming,
        'request' AS charge_kind,
        storage_provider AS provider,
        storage_region AS from_region,
        CAST(NULL AS VARCHAR) AS to_region,
        operation
    FROM paths
    WHERE operation IS NOT NULL
)

SELECT
    path_id, charge_kind, candidate, provider, distance, gateway, from_region, to_region,
    CASE provider
        WHEN 'aws' THEN CASE
            WHEN charge_kind = 'request' AND operation IN ('write', 'list', 'copy')
                THEN 'Requests-Tier1'
            WHEN charge_kind = 'request' AND operation IN ('read', 'head') THEN 'Requests-Tier2'
            WHEN charge_kind = 'request' AND operation = 'delete' THEN 'Requests-Delete'
            WHEN charge_kind = 'nat_processing' THEN 'NatGateway-Bytes'
            WHEN charge_kind = 'endpoint_processing' AND gateway = 'transit'
                THEN 'TransitGateway-Bytes'
            WHEN charge_kind = 'endpoint_processing' THEN 'VpcEndpoint-Bytes'
            WHEN charge_kind = 'transfer' AND distance = 'cross_region' THEN 'AWS-Out-Bytes'
            WHEN charge_kind = 'transfer' AND distance = 'cross_zone'
                THEN 'DataTransfer-Regional-Bytes'
            WHEN charge_kind = 'transfer' AND distance = 'internet' AND is_incoming
                THEN 'DataTransfer-In-Bytes'
            WHEN charge_kind = 'transfer' AND distance = 'internet' THEN 'DataTransfer-Out-Bytes'
            WHEN charge_kind = 'transfer' AND distance = 'same_region' AND is_storage
                THEN CASE WHEN operation = 'write' THEN 'C3DataTransfer-In-Bytes'
                    ELSE 'C3DataTransfer-Out-Bytes' END
        END
        WHEN 'gcp' THEN CASE
            WHEN charge_kind = 'request' AND operation IN ('write', 'list', 'copy')
                THEN 'Class A Operations'
            WHEN charge_kind = 'request' AND operation IN ('read', 'head')
                THEN 'Class B Operations'
            WHEN charge_kind = 'request' AND operation = 'delete' THEN 'Delete Operations'
        END
    END AS usage_type
FROM charged
