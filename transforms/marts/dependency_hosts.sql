-- Hosts of object storage among those contacted, with the logged bucket that a host names.
-- Grain: one host.
-- Reads: dependency_connections, dependency_flows, dependency_objects, dependency_endpoints.
WITH contacted AS (
    SELECT resource_id, endpoint FROM dependency_connections WHERE resource_kind = 'host'
    UNION
    SELECT resource_id, endpoint FROM dependency_flows
    WHERE resource_kind = 'host' AND operation = 'connect'
),

buckets AS (
    SELECT DISTINCT provider, bucket
    FROM dependency_objects
    WHERE measured_by = 'storage_log'
),

asked AS (
    SELECT DISTINCT provider, bucket, endpoint
    FROM dependency_objects
    WHERE measured_by = 'storage_log' AND endpoint IS NOT NULL
),

storage AS (
    SELECT
        c.resource_id,
        c.endpoint,
        CASE e.service
            WHEN 'Amazon S3' THEN 's3'
            WHEN 'Google Cloud Storage' THEN 'gcs'
            WHEN 'Azure Blob Storage' THEN 'azure'
        END AS provider
    FROM contacted AS c
    LEFT JOIN dependency_endpoints AS e ON c.endpoint = e.endpoint
),

-- The bucket is what stands before the service's own name, so that a bucket whose name is the
-- beginning of another's is not taken for it.
by_name AS (
    SELECT s.resource_id, b.provider, b.bucket
    FROM storage AS s
    INNER JOIN buckets AS b
        ON s.provider = b.provider
        AND STARTS_WITH(s.endpoint, b.bucket || '.')
        AND REGEXP_MATCHES(
            SUBSTRING(s.endpoint, LENGTH(b.bucket) + 2), '^(s3[.-]|storage\.|bucket\.vpce-)'
        )
    UNION
    SELECT s.resource_id, a.provider, a.bucket
    FROM storage AS s
    INNER JOIN asked AS a
        ON s.endpoint = a.endpoint AND STARTS_WITH(s.endpoint, a.bucket || '.')
),

named AS (
    SELECT
        resource_id,
        MIN(provider) AS provider,
        ARG_MAX(bucket, LENGTH(bucket)) AS bucket
    FROM by_name
    GROUP BY resource_id
)

-- A host that names a bucket that no log speaks of is explained by no other bucket's log.
SELECT
    s.resource_id,
    s.endpoint,
    COALESCE(
        n.provider, CASE WHEN REGEXP_MATCHES(s.endpoint, '^(s3[.-]|storage\.)') THEN s.provider END
    ) AS provider,
    n.bucket
FROM storage AS s
LEFT JOIN named AS n ON s.resource_id = n.resource_id
WHERE
    n.bucket IS NOT NULL
    OR REGEXP_MATCHES(s.endpoint, '^(s3[.-]|storage\.)')
    OR s.endpoint IN (SELECT endpoint FROM asked)
