-- What the runs of the day declare, with what a source would have to show to prove it.
-- Grain: one run, container role, resource and operation.
-- Reads: declared_dependencies, active_runs.
-- Parameters: $date.
WITH declared AS (
    SELECT
        *,
        SPLIT_PART(resource_id, '://', 1) AS scheme,
        SPLIT_PART(resource_id, '://', 2) AS rest
    FROM declared_dependencies
    WHERE
        date = CAST($date AS DATE)
        AND run_uuid IN (SELECT run_uuid FROM active_runs)
)

SELECT
    run_uuid,
    container_role,
    resource_id,
    operation,
    MIN(resource_kind) AS resource_kind,
    CASE WHEN COUNT(DISTINCT version) = 1 THEN MIN(version) END AS version,
    CASE WHEN COUNT(DISTINCT credential) = 1 THEN MIN(credential) END AS credential,
    MIN(scheme) AS scheme,
    MIN(CASE
        WHEN scheme IN ('s3', 'gs') THEN SPLIT_PART(rest, '/', 1)
        WHEN scheme = 'az' THEN SPLIT_PART(rest, '/', 2)
    END) AS bucket,
    MIN(CASE
        WHEN scheme = 'ip' AND STARTS_WITH(rest, '[') THEN REGEXP_EXTRACT(rest, '^\[([^\]]*)\]', 1)
        WHEN scheme IN ('dns', 'ip') OR STARTS_WITH(scheme, 'git+')
            THEN REGEXP_REPLACE(SPLIT_PART(rest, '/', 1), ':[0-9]+$', '')
    END) AS host,
    MIN(CASE
        WHEN scheme <> 'oci' THEN NULL
        WHEN resource_id LIKE '%@%' THEN SPLIT_PART(resource_id, '@', 1)
        ELSE REGEXP_REPLACE(resource_id, ':[^/:]*$', '')
    END) AS image_name
FROM declared
GROUP BY run_uuid, container_role, resource_id, operation
