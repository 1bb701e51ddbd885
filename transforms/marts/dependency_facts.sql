-- Everything that was done to a resource on the day, from every source, in one shape.
-- `has_received` and `has_sent` say whether the contribution measures that direction at all.
-- Grain: one contribution to a row of run_dependency_days.
-- Reads: dependency_network, dependency_objects, dependency_pulls, dependency_lookups,
--   dependency_regions.
-- Parameters: $date.
WITH told AS (
    SELECT
        cluster, run_uuid, attempt, container_role, stage, resource_id, endpoint, operation,
        measured_by, resource_kind, pod_uid,
        CAST(NULL AS VARCHAR) AS principal,
        CAST(NULL AS VARCHAR) AS reader_region,
        CAST(NULL AS VARCHAR) AS resource_region,
        first_at, last_at, connection_count,
        0 AS request_count,
        denied_count,
        0 AS throttled_count,
        0 AS not_found_count,
        error_count, retry_count, first_error,
        COALESCE(direction = 'receive', FALSE) AS has_received,
        COALESCE(direction = 'transmit', FALSE) AS has_sent,
        bytes, min_bytes, max_bytes, accounted_in, accounted_bytes, byte_layer, match_kind,
        name_kind, row_count, source
    FROM dependency_network
    UNION ALL
    SELECT
        cluster, run_uuid, attempt, container_role, stage, resource_id, endpoint, operation,
        measured_by, resource_kind, pod_uid, principal, reader_region,
        bucket_region AS resource_region,
        first_at, last_at,
        0 AS connection_count,
        request_count, denied_count, throttled_count, not_found_count, error_count,
        0 AS retry_count,
        CASE
            WHEN first_error IS NOT NULL
                THEN STRUCT_PACK(us := epoch_us(first_at), id := transfer_id, error := first_error)
        END AS first_error,
        has_received, has_sent, bytes,
        bytes AS min_bytes,
        max_bytes,
        CAST(NULL AS VARCHAR) AS accounted_in,
        CAST(NULL AS HUGEINT) AS accounted_bytes,
        CASE WHEN measured_by = 'storage_log' THEN 'body' END AS byte_layer,
        match_kind,
        CAST(NULL AS VARCHAR) AS name_kind,
        1 AS row_count,
        'object_requests' AS source
    FROM dependency_objects
    UNION ALL
    SELECT
        cluster, run_uuid, attempt,
        'node_runtime' AS container_role,
        'image_pull' AS stage,
        resource_id, endpoint,
        'pull' AS operation,
        CASE WHEN has_bytes THEN measured_by ELSE 'none' END AS measured_by,
        'image' AS resource_kind,
        pod_uid,
        CAST(NULL AS VARCHAR) AS principal,
        CAST(NULL AS VARCHAR) AS reader_region,
        CAST(NULL AS VARCHAR) AS resource_region,
        first_at, last_at,
        0 AS connection_count,
        0 AS request_count,
        0 AS denied_count,
        0 AS throttled_count,
        0 AS not_found_count,
        CASE WHEN is_started THEN error_count ELSE 0 END AS error_count,
        CASE WHEN is_started THEN GREATEST(0, attempt_count - 1) ELSE 0 END AS retry_count,
        CASE
            WHEN error IS NOT NULL
                THEN STRUCT_PACK(us := epoch_us(first_at), id := image_pull_id, error := error)
        END AS first_error,
        has_bytes AS has_received,
        FALSE AS has_sent,
        -- The size of an image is not what was transferred: between the bounds nothing is known.
        CASE WHEN min_transferred_bytes = max_transferred_bytes THEN max_transferred_bytes END
            AS bytes,
        min_transferred_bytes AS min_bytes,
        max_transferred_bytes AS max_bytes,
        CAST(NULL AS VARCHAR) AS accounted_in,
        CAST(NULL AS HUGEINT) AS accounted_bytes,
        CASE WHEN has_bytes THEN 'body' END AS byte_layer,
        CASE WHEN pod_uid IS NULL THEN 'none' ELSE 'uid' END AS match_kind,
        CAST(NULL AS VARCHAR) AS name_kind,
        1 AS row_count,
        'kube_event_states' AS source
    FROM dependency_pulls
    UNION ALL
    SELECT
        cluster, run_uuid, attempt,
        CAST(NULL AS VARCHAR) AS container_role,
        stage,
        resource_id, endpoint,
        'resolve' AS operation,
        'none' AS measured_by,
        resource_kind, pod_uid,
        CAST(NULL AS VARCHAR) AS principal,
        CAST(NULL AS VARCHAR) AS reader_region,
        CAST(NULL AS VARCHAR) AS resource_region,
        first_at, last_at,
        0 AS connection_count,
        request_count, denied_count,
        0 AS throttled_count,
        not_found_count, error_count,
        0 AS retry_count,
        first_error,
        FALSE AS has_received,
        FALSE AS has_sent,
        CAST(NULL AS BIGINT) AS bytes,
        CAST(NULL AS BIGINT) AS min_bytes,
        CAST(NULL AS BIGINT) AS max_bytes,
        CAST(NULL AS VARCHAR) AS accounted_in,
        CAST(NULL AS HUGEINT) AS accounted_bytes,
        CAST(NULL AS VARCHAR) AS byte_layer,
        match_kind,
        CAST(NULL AS VARCHAR) AS name_kind,
        request_count AS row_count,
        'dns_lookups' AS source
    FROM dependency_lookups
)

SELECT
    row_id([
        id_text(CAST($date AS DATE)), id_text(t.cluster), id_text(t.run_uuid), id_text(t.attempt),
        id_text(t.container_role), id_text(t.stage), id_text(t.resource_id), id_text(t.endpoint),
        id_text(t.operation), id_text(t.measured_by)
    ]) AS run_dependency_day_id,
    t.* EXCLUDE (reader_region),
    COALESCE(t.reader_region, g.region) AS reader_region
FROM told AS t
LEFT JOIN dependency_regions AS g ON t.pod_uid = g.pod_uid AND t.cluster = g.cluster
