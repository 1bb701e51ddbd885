-- The rows of a mart with their coverage: by a source that is named, else by what is able to show
-- the resource. What neither names is told by states, events or the node.
-- Grain: one row of mart_rows, less its columns `asked_`.
-- Reads: mart_rows, row_coverage.
WITH asked AS (
    SELECT
        *,
        CASE
            WHEN asked_operation IN ('flows', 'dns_lookups', 'counter_samples', 'volume_records')
                THEN asked_operation
            WHEN asked_operation = 'resolve' THEN 'dns_lookups'
            WHEN asked_operation IS NULL OR asked_operation = 'pull' THEN NULL
            WHEN STARTS_WITH(asked_resource, 's3://') OR STARTS_WITH(asked_resource, 'gs://')
                THEN 'object_requests:' || SPLIT_PART(asked_resource, '/', 3)
            WHEN STARTS_WITH(asked_resource, 'az://')
                THEN 'object_requests:' || SPLIT_PART(asked_resource, '/', 4)
            WHEN STARTS_WITH(asked_resource, 'dns://') OR STARTS_WITH(asked_resource, 'git+')
                THEN 'flows and dns_lookups'
            WHEN STARTS_WITH(asked_resource, 'ip://') THEN 'flows or volume_records'
            WHEN STARTS_WITH(asked_resource, 'node://') THEN 'flows'
            WHEN
                STARTS_WITH(asked_resource, 'kube://')
                AND NOT CONTAINS(asked_resource, '/persistentvolumeclaims/')
                THEN 'flows'
        END AS asked_source
    FROM mart_rows
)

SELECT
    a.* EXCLUDE (asked_cluster, asked_run, asked_resource, asked_operation, asked_source),
    c.expected_us,
    c.covered_us,
    CASE WHEN a.asked_source IS NOT NULL THEN COALESCE(c.empty_means, 'not_observed') END
        AS empty_means
FROM asked AS a
LEFT JOIN row_coverage AS c
    ON a.asked_source = c.asked_source
    AND a.asked_cluster IS NOT DISTINCT FROM c.cluster
    AND a.asked_run IS NOT DISTINCT FROM c.run_uuid
