-- What each source saw of a pod's bytes, which of them counts, and what the marts leave of it.
-- Grain: owner (a pod, else an address of no pod), direction, hour.
-- Reads: balance_uses, balance_flows, balance_interfaces, balance_registries, balance_violations,
--   balance_pods, runs_of_day.
WITH keys AS (
    SELECT pod_uid, cluster, local_address, direction, hour_number FROM balance_uses
    UNION
    SELECT pod_uid, cluster, local_address, direction, hour_number FROM balance_flows
    UNION
    SELECT
        pod_uid,
        CAST(NULL AS VARCHAR) AS cluster,
        CAST(NULL AS VARCHAR) AS local_address,
        direction, hour_number
    FROM balance_interfaces
    UNION
    SELECT
        pod_uid,
        CAST(NULL AS VARCHAR) AS cluster,
        CAST(NULL AS VARCHAR) AS local_address,
        direction, hour_number
    FROM balance_registries
),

joined AS (
    SELECT
        k.*,
        i.interface_bytes, i.min_interface_bytes, i.max_interface_bytes, i.reset_count, i.gap_us,
        i.uncovered_us, i.interface_byte_layer,
        f.flow_bytes, f.min_flow_bytes, f.max_flow_bytes, f.sampled_bytes, f.min_sampled_bytes,
        f.estimated_bytes, f.flow_byte_layer,
        u.log_bytes, u.min_log_bytes, u.max_log_bytes, u.pull_bytes, r.registry_bytes,
        COALESCE(u.log_bytes, 0) + COALESCE(r.registry_bytes, 0) AS logged_bytes,
        COALESCE(u.pull_bytes, 0) AS node_bytes,
        COALESCE(u.attributed_bytes, 0) AS attributed_bytes,
        COALESCE(u.min_passed_bytes, 0) AS min_shown_bytes,
        CASE WHEN u.direction IS NULL THEN 0 ELSE u.max_passed_bytes END AS max_shown_bytes,
        CASE
            WHEN i.interface_bytes IS NOT NULL AND i.gap_us = 0 AND i.max_interface_bytes IS NOT NULL
                THEN 'interface_counter'
            WHEN f.flow_bytes IS NOT NULL THEN 'flow_record'
            WHEN i.interface_bytes >= COALESCE(u.log_bytes, 0) + COALESCE(r.registry_bytes, 0)
                THEN 'interface_counter'
            WHEN r.registry_bytes > COALESCE(u.log_bytes, 0) THEN 'registry_log'
            WHEN u.log_bytes IS NOT NULL THEN 'storage_log'
            WHEN f.sampled_bytes IS NOT NULL THEN 'sampled_flow_record'
            ELSE 'none'
        END AS chosen_by
    FROM keys AS k
    LEFT JOIN balance_uses AS u
        ON k.pod_uid IS NOT DISTINCT FROM u.pod_uid
        AND k.cluster IS NOT DISTINCT FROM u.cluster
        AND k.local_address IS NOT DISTINCT FROM u.local_address
        AND k.direction = u.direction
        AND k.hour_number = u.hour_number
    LEFT JOIN balance_flows AS f
        ON k.pod_uid IS NOT DISTINCT FROM f.pod_uid
        AND k.cluster IS NOT DISTINCT FROM f.cluster
        AND k.local_address IS NOT DISTINCT FROM f.local_address
        AND k.direction = f.direction
        AND k.hour_number = f.hour_number
    LEFT JOIN balance_interfaces AS i
        ON k.pod_uid = i.pod_uid
        AND k.direction = i.direction
        AND k.hour_number = i.hour_number
    LEFT JOIN balance_registries AS r
        ON k.pod_uid = r.pod_uid
        AND k.direction = r.direction
        AND k.hour_number = r.hour_number
),

-- What is certain by one source is certain, whichever counts.
chosen AS (
    SELECT
        *,
        CASE chosen_by
            WHEN 'interface_counter' THEN interface_bytes
            WHEN 'flow_record' THEN flow_bytes
            WHEN 'storage_log' THEN logged_bytes
            WHEN 'registry_log' THEN logged_bytes
            WHEN 'sampled_flow_record' THEN estimated_bytes
            ELSE 0
        END AS passed_bytes,
        CASE chosen_by
            WHEN 'interface_counter' THEN min_interface_bytes
            WHEN 'flow_record' THEN min_flow_bytes
            WHEN 'storage_log' THEN min_log_bytes
            WHEN 'registry_log' THEN COALESCE(min_log_bytes, 0)
            WHEN 'sampled_flow_record' THEN min_sampled_bytes
            ELSE 0
        END AS min_passed_bytes,
        CASE chosen_by
            WHEN 'interface_counter' THEN max_interface_bytes
            WHEN 'flow_record' THEN max_flow_bytes
            WHEN 'none' THEN 0
        END AS max_passed_bytes
    FROM joined
),

balanced AS (
    SELECT
        c.*,
        p.cluster AS pod_cluster,
        p.namespace,
        p.pod_name,
        p.run_uuid,
        p.attempt,
        p.rdma,
        w.project,
        h.violations,
        d.violations AS day_violations,
        c.passed_bytes + c.node_bytes AS chosen_bytes,
        c.min_passed_bytes + c.node_bytes AS min_chosen_bytes,
        CASE WHEN p.rdma IS NULL THEN c.max_passed_bytes + c.node_bytes END AS max_chosen_bytes
    FROM chosen AS c
    LEFT JOIN balance_pods AS p ON c.pod_uid = p.pod_uid
    LEFT JOIN runs_of_day AS w ON p.run_uuid = w.run_uuid
    LEFT JOIN balance_violations AS h
        ON c.pod_uid = h.pod_uid AND c.direction = h.direction AND c.hour_number = h.hour_number
    LEFT JOIN balance_violations AS d
        ON c.pod_uid = d.pod_uid AND c.direction = d.direction AND d.hour_number IS NULL
)

-- Bytes that somebody could forge must not stop the day. (LEAST would make a bound of null.)
SELECT
    row_id([
        id_text(COALESCE(pod_cluster, cluster)), id_text(pod_uid), id_text(local_address),
        id_text(direction), id_text(hour_number * 3600000000)
    ]) AS byte_balance_id,
    COALESCE(pod_cluster, cluster) AS cluster,
    namespace,
    pod_name,
    pod_uid,
    local_address,
    run_uuid,
    CAST(attempt AS BIGINT) AS attempt,
    project,
    direction,
    make_timestamptz(hour_number * 3600000000) AS hour_start_at,
    in_64_bits(interface_bytes) AS interface_bytes,
    in_64_bits(min_interface_bytes) AS min_interface_bytes,
    in_64_bits(max_interface_bytes) AS max_interface_bytes,
    interface_byte_layer,
    CAST(reset_count AS BIGINT) AS reset_count,
    CAST(gap_us AS DOUBLE) / 1000000 AS gap_seconds,
    CAST(uncovered_us AS DOUBLE) / 1000000 AS uncovered_seconds,
    in_64_bits(flow_bytes) AS flow_bytes,
    in_64_bits(min_flow_bytes) AS min_flow_bytes,
    in_64_bits(max_flow_bytes) AS max_flow_bytes,
    in_64_bits(sampled_bytes) AS sampled_bytes,
    in_64_bits(estimated_bytes) AS estimated_bytes,
    flow_byte_layer,
    in_64_bits(log_bytes) AS storage_log_bytes,
    in_64_bits(min_log_bytes) AS min_storage_log_bytes,
    in_64_bits(max_log_bytes) AS max_storage_log_bytes,
    in_64_bits(registry_bytes) AS registry_log_bytes,
    in_64_bits(pull_bytes) AS node_runtime_bytes,
    chosen_by,
    in_64_bits(chosen_bytes) AS chosen_bytes,
    in_64_bits(min_chosen_bytes) AS min_chosen_bytes,
    in_64_bits(max_chosen_bytes) AS max_chosen_bytes,
    in_64_bits(attributed_bytes) AS attributed_bytes,
    in_64_bits(chosen_bytes) - in_64_bits(attributed_bytes) AS unattributed_bytes,
    in_64_bits(min_chosen_bytes) - in_64_bits(max_shown_bytes + node_bytes)
        AS min_unattributed_bytes,
    in_64_bits(max_chosen_bytes) - in_64_bits(min_shown_bytes + node_bytes)
        AS max_unattributed_bytes,
    rdma,
    violations,
    day_violations,
    COALESCE(pod_cluster, cluster) AS asked_cluster,
    run_uuid AS asked_run,
    CAST(NULL AS VARCHAR) AS asked_resource,
    CASE
        WHEN pod_uid IS NULL THEN NULL
        WHEN chosen_by = 'interface_counter' THEN 'counter_samples'
        WHEN chosen_by IN ('flow_record', 'sampled_flow_record') THEN 'volume_records'
    END AS asked_operation
FROM balanced
