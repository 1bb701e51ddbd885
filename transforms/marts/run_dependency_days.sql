-- What one attempt of one run did to one resource on one day.
-- Grain: the key columns of run_dependency_days; a null part of it is one group. With what
-- row_coverage.py asks for.
-- Reads: dependency_facts, dependency_kinds, dependency_endpoints, dependency_primaries,
--   runs_of_day.
-- Equality of the least and the greatest: distinct values would be grouped apart, each once more.
WITH summed AS (
    SELECT
        run_dependency_day_id, cluster, run_uuid, attempt, container_role, stage, resource_id,
        endpoint, operation, measured_by,
        MIN(resource_kind) AS resource_kind,
        CASE WHEN COUNT(*) = COUNT(principal) AND MIN(principal) = MAX(principal)
            THEN MIN(principal) END AS principal,
        CASE WHEN COUNT(*) = COUNT(reader_region) AND MIN(reader_region) = MAX(reader_region)
            THEN MIN(reader_region) END AS reader_region,
        CASE WHEN COUNT(*) = COUNT(resource_region) AND MIN(resource_region) = MAX(resource_region)
            THEN MIN(resource_region) END AS resource_region,
        LIST(DISTINCT pod_uid) FILTER (WHERE pod_uid IS NOT NULL) AS pod_uids,
        MIN(first_at) AS first_seen_at,
        MAX(last_at) AS last_seen_at,
        SUM(connection_count) AS connection_count,
        SUM(request_count) AS request_count,
        SUM(denied_count) AS denied_count,
        SUM(throttled_count) AS throttled_count,
        SUM(not_found_count) AS not_found_count,
        SUM(error_count) AS error_count,
        SUM(retry_count) AS retry_count,
        MIN(first_error).error AS first_error,
        -- One part whose best or largest value is not known makes that of the sum unknown.
        CASE WHEN COUNT(*) FILTER (WHERE has_received) = COUNT(bytes) FILTER (WHERE has_received)
            THEN SUM(bytes) FILTER (WHERE has_received) END AS received_bytes,
        SUM(min_bytes) FILTER (WHERE has_received) AS min_received_bytes,
        CASE
            WHEN COUNT(*) FILTER (WHERE has_received) = COUNT(max_bytes) FILTER (WHERE has_received)
                THEN SUM(max_bytes) FILTER (WHERE has_received)
        END AS max_received_bytes,
        CASE WHEN COUNT(*) FILTER (WHERE has_sent) = COUNT(bytes) FILTER (WHERE has_sent)
            THEN SUM(bytes) FILTER (WHERE has_sent) END AS sent_bytes,
        SUM(min_bytes) FILTER (WHERE has_sent) AS min_sent_bytes,
        CASE
            WHEN COUNT(*) FILTER (WHERE has_sent) = COUNT(max_bytes) FILTER (WHERE has_sent)
                THEN SUM(max_bytes) FILTER (WHERE has_sent)
        END AS max_sent_bytes,
        CASE WHEN COUNT(*) = COUNT(accounted_in)
            THEN ARG_MAX(
                accounted_in, STRUCT_PACK(bytes := accounted_bytes, resource := accounted_in)
            ) END AS accounted_in,
        CASE WHEN MIN(byte_layer) = MAX(byte_layer) THEN MIN(byte_layer) END AS byte_layer,
        LIST_SORT(LIST(DISTINCT source)) AS sources
    FROM dependency_facts
    GROUP BY
        run_dependency_day_id, cluster, run_uuid, attempt, container_role, stage, resource_id,
        endpoint, operation, measured_by
)

-- Sizes that a client could forge must not stop the day. (LEAST would make a bound of null.)
SELECT
    s.run_dependency_day_id,
    s.cluster,
    s.run_uuid,
    CAST(s.attempt AS BIGINT) AS attempt,
    s.container_role,
    s.stage,
    s.resource_id,
    s.endpoint,
    s.operation,
    s.measured_by,
    w.project,
    e.service,
    e.purpose,
    s.resource_kind,
    e.endpoint_kind,
    p.primary_resource_id,
    s.principal,
    s.reader_region,
    s.resource_region,
    COALESCE(LIST_SORT(s.pod_uids), []) AS pod_uids,
    s.first_seen_at,
    s.last_seen_at,
    CAST(s.connection_count AS BIGINT) AS connection_count,
    CAST(s.request_count AS BIGINT) AS request_count,
    CAST(s.denied_count AS BIGINT) AS denied_count,
    CAST(s.throttled_count AS BIGINT) AS throttled_count,
    CAST(s.not_found_count AS BIGINT) AS not_found_count,
    CAST(s.error_count AS BIGINT) AS error_count,
    CAST(s.retry_count AS BIGINT) AS retry_count,
    s.first_error,
    in_64_bits(s.received_bytes) AS received_bytes,
    in_64_bits(s.min_received_bytes) AS min_received_bytes,
    in_64_bits(s.max_received_bytes) AS max_received_bytes,
    in_64_bits(s.sent_bytes) AS sent_bytes,
    in_64_bits(s.min_sent_bytes) AS min_sent_bytes,
    in_64_bits(s.max_sent_bytes) AS max_sent_bytes,
    s.accounted_in,
    s.byte_layer,
    k.match_kind,
    k.match_kind_counts,
    k.name_kind,
    k.name_kind_counts,
    s.sources,
    s.cluster AS asked_cluster,
    s.run_uuid AS asked_run,
    s.resource_id AS asked_resource,
    s.operation AS asked_operation
FROM summed AS s
INNER JOIN dependency_kinds AS k ON s.run_dependency_day_id = k.run_dependency_day_id
LEFT JOIN dependency_endpoints AS e ON s.endpoint = e.endpoint
LEFT JOIN dependency_primaries AS p
    ON s.operation = 'connect'
    AND s.resource_id = p.resource_id
    AND s.endpoint = p.endpoint
    AND s.stage = p.stage
    AND s.cluster IS NOT DISTINCT FROM p.cluster
    AND s.run_uuid IS NOT DISTINCT FROM p.run_uuid
    AND s.attempt IS NOT DISTINCT FROM p.attempt
    AND s.container_role IS NOT DISTINCT FROM p.container_role
LEFT JOIN runs_of_day AS w ON s.run_uuid = w.run_uuid
