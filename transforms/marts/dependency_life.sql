-- What each attempt did to each resource in its life up to the end of the day.
-- Grain: the key of run_dependencies, of runs active on the day.
-- Reads: run_dependency_days (all days), active_runs.
-- Parameters: $date.
WITH told AS (
    SELECT
        *,
        -- Contact whose bytes nothing measured: whatever else was measured is no upper bound.
        measured_by = 'none'
        AND accounted_in IS NULL
        AND NOT (
            operation = 'connect'
            AND connection_count > 0
            AND denied_count >= connection_count
        ) AS is_unmeasured,
        LIST_POSITION(
            [
                'storage_log', 'registry_log', 'flow_record', 'sampled_flow_record',
                'interface_counter', 'application_log', 'image_size', 'none'
            ],
            measured_by
        ) AS measure_rank
    FROM run_dependency_days
    WHERE
        date <= CAST($date AS DATE)
        AND run_uuid IN (SELECT run_uuid FROM active_runs)
)

SELECT
    row_id([
        id_text(run_uuid), id_text(attempt), id_text(container_role), id_text(stage),
        id_text(resource_id), id_text(endpoint), id_text(operation)
    ]) AS run_dependency_id,
    run_uuid, attempt, container_role, stage, resource_id, endpoint, operation,
    MIN(cluster) AS cluster,
    ARG_MAX(service, date) FILTER (WHERE service IS NOT NULL) AS service,
    ARG_MAX(purpose, date) FILTER (WHERE purpose IS NOT NULL) AS purpose,
    ARG_MAX(endpoint_kind, date) FILTER (WHERE endpoint_kind IS NOT NULL) AS endpoint_kind,
    CASE WHEN MIN(primary_resource_id) = MAX(primary_resource_id) THEN MIN(primary_resource_id) END
        AS primary_resource_id,
    MIN(resource_kind) AS resource_kind,
    CASE WHEN COUNT(*) = COUNT(principal) AND MIN(principal) = MAX(principal)
        THEN MIN(principal) END AS principal,
    MIN(first_seen_at) AS first_seen_at,
    MAX(last_seen_at) AS last_seen_at,
    SUM(connection_count) AS connection_count,
    SUM(request_count) AS request_count,
    SUM(denied_count) AS denied_count,
    SUM(throttled_count) AS throttled_count,
    SUM(not_found_count) AS not_found_count,
    SUM(error_count) AS error_count,
    SUM(retry_count) AS retry_count,
    MIN(
        CASE
            WHEN first_error IS NOT NULL
                THEN STRUCT_PACK(
                    us := epoch_us(first_seen_at), id := run_dependency_day_id,
                    error := first_error
                )
        END
    ).error AS first_error,
    CASE WHEN COUNT(min_received_bytes) = COUNT(received_bytes) THEN SUM(received_bytes) END
        AS received_bytes,
    SUM(min_received_bytes) AS min_received_bytes,
    CASE
        WHEN COUNT(min_received_bytes) = COUNT(max_received_bytes) AND NOT BOOL_OR(is_unmeasured)
            THEN SUM(max_received_bytes)
    END AS max_received_bytes,
    CASE WHEN COUNT(min_sent_bytes) = COUNT(sent_bytes) THEN SUM(sent_bytes) END AS sent_bytes,
    SUM(min_sent_bytes) AS min_sent_bytes,
    CASE
        WHEN COUNT(min_sent_bytes) = COUNT(max_sent_bytes) AND NOT BOOL_OR(is_unmeasured)
            THEN SUM(max_sent_bytes)
    END AS max_sent_bytes,
    MIN(measure_rank) AS measure_rank,
    CASE WHEN COUNT(*) = COUNT(accounted_in)
        THEN ARG_MAX(accounted_in, STRUCT_PACK(known_on := date, resource := accounted_in))
    END AS accounted_in,
    CASE WHEN MIN(byte_layer) = MAX(byte_layer) THEN MIN(byte_layer) END AS byte_layer,
    LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(sources)))) AS sources,
    FLATTEN(LIST(match_kind_counts)) AS match_kind_counts,
    FLATTEN(LIST(name_kind_counts)) AS name_kind_counts
FROM told
GROUP BY run_uuid, attempt, container_role, stage, resource_id, endpoint, operation
