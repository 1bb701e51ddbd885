-- What is counted for each charge: bytes on every charge of their path, requests on that of
-- requests. Bodies of failed requests are charged like others (reference: object_storage.md 1.3).
-- Grain: one path, charge, run, resource, payer and source of the bytes.
-- Reads: object_paths, object_transfers, dependency_objects, flow_paths, path_prices.
-- Parameters: $date.
WITH objects AS (
    SELECT
        p.*,
        d.cluster, d.run_uuid, d.resource_id, d.measured_by, d.request_count,
        CASE WHEN d.measured_by = 'storage_log' AND d.max_bytes = d.bytes THEN 1 ELSE 0 END
            AS is_counted,
        CASE WHEN d.has_received OR d.has_sent OR d.measured_by = 'none' THEN d.bytes ELSE 0 END
            + t.error_bytes AS bytes,
        CASE WHEN d.has_received OR d.has_sent OR d.measured_by = 'none' THEN d.max_bytes ELSE 0 END
            + t.error_bytes AS max_bytes
    FROM object_paths AS p
    INNER JOIN dependency_objects AS d ON p.transfer_id = d.transfer_id
    INNER JOIN object_transfers AS t
        ON p.transfer_id = t.transfer_id AND t.date = CAST($date AS DATE)
),

contributions AS (
    SELECT
        o.path_id, a.charge_kind, o.cluster, o.run_uuid, o.resource_id,
        CASE a.charge_kind
            WHEN 'request' THEN o.bucket_account
            WHEN 'transfer'
                THEN CASE WHEN o.is_cluster_paying THEN o.cluster_account ELSE o.bucket_account END
            ELSE o.cluster_account
        END AS account_id,
        CASE
            WHEN a.charge_kind = 'request' THEN o.bucket
            WHEN a.charge_kind = 'transfer' AND NOT o.is_cluster_paying THEN o.bucket
            WHEN a.charge_kind = 'endpoint_processing' THEN o.vpc_endpoint_id
        END AS billed_resource_id,
        CASE WHEN a.charge_kind = 'request' THEN 'storage_log' ELSE o.measured_by END
            AS measured_by,
        CASE WHEN a.charge_kind <> 'request' AND o.is_counted = 1 THEN o.bytes END AS bytes,
        CASE WHEN a.charge_kind <> 'request' THEN o.bytes END AS min_bytes,
        CASE WHEN a.charge_kind <> 'request' THEN o.max_bytes END AS max_bytes,
        CASE WHEN a.charge_kind = 'request' THEN o.request_count END AS request_count
    FROM objects AS o
    INNER JOIN path_prices AS a ON o.path_id = a.path_id
    WHERE
        CASE
            WHEN a.charge_kind = 'request' THEN o.request_count > 0
            WHEN a.charge_kind = 'transfer' THEN o.max_bytes IS NULL OR o.max_bytes > 0
            ELSE (o.max_bytes IS NULL OR o.max_bytes > 0) AND o.payer IS NOT NULL
        END
    UNION ALL
    SELECT
        f.path_id, a.charge_kind, f.cluster, f.run_uuid, f.resource_id,
        CASE a.charge_kind WHEN 'transfer' THEN f.sender_account ELSE f.cluster_account END
            AS account_id,
        CAST(NULL AS VARCHAR) AS billed_resource_id,
        f.measured_by,
        f.bytes,
        f.min_bytes,
        f.max_bytes,
        CAST(NULL AS BIGINT) AS request_count
    FROM flow_paths AS f
    INNER JOIN path_prices AS a ON f.path_id = a.path_id
    WHERE f.max_bytes IS NULL OR f.max_bytes > 0
)

SELECT
    path_id, charge_kind, cluster, run_uuid, resource_id, account_id, billed_resource_id,
    measured_by,
    CASE WHEN COUNT(bytes) = COUNT(*) THEN SUM(CAST(bytes AS HUGEINT)) END AS bytes,
    SUM(CAST(min_bytes AS HUGEINT)) AS min_bytes,
    CASE WHEN COUNT(max_bytes) = COUNT(*) THEN SUM(CAST(max_bytes AS HUGEINT)) END AS max_bytes,
    SUM(request_count) AS request_count
FROM contributions
GROUP BY
    path_id, charge_kind, cluster, run_uuid, resource_id, account_id, billed_resource_id,
    measured_by
