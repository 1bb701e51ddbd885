-- How far the sources able to show it observed each resource seen or declared.
-- A named host needs flows and a source of names, an address flows or volumes (definitions.md 33).
-- Grain: one run, resource and operation.
-- Reads: dependency_life, declared_resources, run_coverage.
-- Parameters: $date.
WITH asked AS (
    SELECT run_uuid, resource_id, operation FROM dependency_life
    UNION
    SELECT run_uuid, resource_id, operation FROM declared_resources
),

parted AS (
    SELECT
        run_uuid, resource_id, operation,
        SPLIT_PART(resource_id, '://', 1) AS scheme,
        SPLIT_PART(resource_id, '://', 2) AS rest
    FROM asked
),

needs AS (
    SELECT
        run_uuid, resource_id, operation,
        'object_requests:' || SPLIT_PART(rest, '/', 1) AS source
    FROM parted
    WHERE scheme IN ('s3', 'gs')
    UNION ALL
    SELECT
        run_uuid, resource_id, operation,
        'object_requests:' || SPLIT_PART(rest, '/', 2) AS source
    FROM parted
    WHERE scheme = 'az'
    UNION ALL
    SELECT run_uuid, resource_id, operation, 'kube_event_states' AS source
    FROM parted
    WHERE operation = 'pull'
    UNION ALL
    SELECT run_uuid, resource_id, operation, 'dns_lookups' AS source
    FROM parted
    WHERE operation = 'resolve' OR scheme = 'dns' OR STARTS_WITH(scheme, 'git+')
    UNION ALL
    SELECT run_uuid, resource_id, operation, 'flows' AS source
    FROM parted
    WHERE
        operation <> 'resolve'
        AND (scheme IN ('dns', 'ip', 'node') OR STARTS_WITH(scheme, 'git+'))
    UNION ALL
    SELECT run_uuid, resource_id, operation, 'flows' AS source
    FROM parted
    WHERE operation = 'connect' AND scheme = 'kube' AND rest NOT LIKE '%/persistentvolumeclaims/%'
    UNION ALL
    SELECT run_uuid, resource_id, operation, 'volume_records' AS source
    FROM parted
    WHERE operation = 'connect' AND scheme = 'ip'
),

covered AS (
    SELECT
        n.run_uuid, n.resource_id, n.operation, n.source, c.covered_us, c.expected_us,
        c.coverage_ratio,
        c.empty_means = 'nothing_happened' AS is_whole
    FROM needs AS n
    INNER JOIN run_coverage AS c
        ON n.run_uuid = c.run_uuid AND n.source = c.source AND c.date = CAST($date AS DATE)
),

-- Every source of a named host must have seen it; of an address one is enough.
joined AS (
    SELECT
        run_uuid, resource_id, operation,
        LIST_SORT(LIST(STRUCT_PACK(
            source := source, covered_us := covered_us, expected_us := expected_us
        ))) AS coverage,
        COUNT(*) AS source_count,
        CASE WHEN resource_id LIKE 'ip://%' AND operation = 'connect'
            THEN MAX(coverage_ratio) ELSE MIN(coverage_ratio) END AS coverage_ratio,
        CASE WHEN resource_id LIKE 'ip://%' AND operation = 'connect'
            THEN BOOL_OR(is_whole) ELSE BOOL_AND(is_whole) END AS is_whole
    FROM covered
    GROUP BY run_uuid, resource_id, operation
),

wanted AS (
    SELECT run_uuid, resource_id, operation, COUNT(DISTINCT source) AS source_count
    FROM needs
    GROUP BY run_uuid, resource_id, operation
)

SELECT
    j.run_uuid,
    j.resource_id,
    j.operation,
    j.coverage,
    j.coverage_ratio,
    -- Able: all that is needed is there; whole: and it observed everything.
    j.source_count = w.source_count OR j.resource_id LIKE 'ip://%' AS is_able,
    CASE
        WHEN COALESCE(j.coverage_ratio, 0) = 0 THEN 'not_observed'
        WHEN j.is_whole AND (j.source_count = w.source_count OR j.resource_id LIKE 'ip://%')
            THEN 'nothing_happened'
        ELSE 'partly_observed'
    END AS empty_means
FROM joined AS j
INNER JOIN wanted AS w
    ON j.run_uuid = w.run_uuid AND j.resource_id = w.resource_id AND j.operation = w.operation
