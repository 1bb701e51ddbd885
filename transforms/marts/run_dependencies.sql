-- What each attempt of a run did, and declares, in its life up to the end of the day.
-- Grain: the key columns of run_dependencies.
-- Reads: dependency_life, dependency_life_kinds, dependency_matches, dependency_coverage,
--   declared_resources, active_runs, runs.
-- Parameters: $date.
WITH proofs AS (
    SELECT
        run_dependency_id,
        CASE WHEN COUNT(DISTINCT version) FILTER (WHERE is_proof) = 1
            THEN MIN(version) FILTER (WHERE is_proof) END AS version,
        CASE WHEN COUNT(DISTINCT credential) FILTER (WHERE is_proof) = 1
            THEN MIN(credential) FILTER (WHERE is_proof) END AS credential
    FROM dependency_matches
    GROUP BY run_dependency_id
),

seen AS (
    SELECT
        l.*,
        k.match_kind AS weakest_match_kind,
        k.match_kind_counts AS all_match_kind_counts,
        k.name_kind AS weakest_name_kind,
        k.name_kind_counts AS all_name_kind_counts,
        p.credential,
        CASE
            WHEN l.operation = 'pull' AND l.resource_id LIKE '%@%'
                THEN SPLIT_PART(l.resource_id, '@', 2)
        END AS observed_version,
        p.version AS declared_version,
        CASE
            WHEN p.run_dependency_id IS NULL THEN 'seen_not_declared'
            WHEN
                l.denied_count > 0
                AND l.denied_count >= CASE
                    WHEN l.operation = 'connect' THEN l.connection_count
                    ELSE l.request_count
                END
                THEN 'declared_denied'
            ELSE 'declared_seen'
        END AS declaration
    FROM dependency_life AS l
    INNER JOIN dependency_life_kinds AS k ON l.run_dependency_id = k.run_dependency_id
    LEFT JOIN proofs AS p ON l.run_dependency_id = p.run_dependency_id
),

attempts AS (
    SELECT run_uuid, attempt, cluster
    FROM runs
    WHERE date = CAST($date AS DATE)
),

-- What was seen of an unknown attempt may have been any of them.
missed AS (
    SELECT
        d.*,
        a.attempt,
        a.cluster,
        EXISTS (
            SELECT 1 FROM dependency_matches AS m
            WHERE
                m.run_uuid = d.run_uuid
                AND m.resource_id = d.resource_id
                AND m.operation = d.operation
                AND m.container_role IS NOT DISTINCT FROM d.container_role
                AND m.is_contact
        ) AS is_contacted
    FROM declared_resources AS d
    INNER JOIN attempts AS a ON d.run_uuid = a.run_uuid
    WHERE NOT EXISTS (
        SELECT 1 FROM dependency_matches AS m
        WHERE
            m.run_uuid = d.run_uuid
            AND m.resource_id = d.resource_id
            AND m.operation = d.operation
            AND m.container_role IS NOT DISTINCT FROM d.container_role
            AND m.is_proof
            AND (m.attempt IS NULL OR m.attempt = a.attempt)
    )
),

dependencies AS (
    SELECT
        run_dependency_id, run_uuid, attempt, container_role, stage, resource_id, endpoint,
        operation, cluster, service, purpose, resource_kind, endpoint_kind, primary_resource_id,
        COALESCE(observed_version, declared_version) AS version,
        CASE
            WHEN observed_version IS NOT NULL THEN 'observed'
            WHEN declared_version IS NOT NULL THEN 'declared'
        END AS version_basis,
        credential, principal, declaration, first_seen_at, last_seen_at, connection_count,
        request_count, denied_count, throttled_count, not_found_count, error_count, retry_count,
        first_error, received_bytes, min_received_bytes, max_received_bytes, sent_bytes,
        min_sent_bytes, max_sent_bytes,
        [
            'storage_log', 'registry_log', 'flow_record', 'sampled_flow_record',
            'interface_counter', 'application_log', 'image_size', 'none'
        ][measure_rank] AS measured_by,
        accounted_in, byte_layer,
        weakest_match_kind AS match_kind,
        all_match_kind_counts AS match_kind_counts,
        weakest_name_kind AS name_kind,
        all_name_kind_counts AS name_kind_counts,
        sources
    FROM seen
    UNION ALL
    SELECT
        row_id([
            id_text(m.run_uuid), id_text(m.attempt), id_text(m.container_role),
            id_text('unknown'), id_text(m.resource_id), id_text(NULL), id_text(m.operation)
        ]) AS run_dependency_id,
        m.run_uuid, m.attempt, m.container_role,
        'unknown' AS stage,
        m.resource_id,
        NULL AS endpoint,
        m.operation, m.cluster,
        NULL AS service, NULL AS purpose, m.resource_kind,
        NULL AS endpoint_kind, NULL AS primary_resource_id,
        m.version,
        CASE WHEN m.version IS NOT NULL THEN 'declared' END AS version_basis,
        m.credential,
        NULL AS principal,
        CASE
            WHEN v.is_able AND v.empty_means = 'nothing_happened' AND NOT m.is_contacted
                THEN 'declared_not_seen'
            -- The log of a bucket shows its requests, whoever reached its host.
            WHEN v.is_able AND v.empty_means = 'nothing_happened' AND m.bucket IS NOT NULL
                THEN 'declared_not_seen'
            ELSE 'declared_not_observable'
        END AS declaration,
        NULL AS first_seen_at, NULL AS last_seen_at,
        0 AS connection_count, 0 AS request_count, 0 AS denied_count, 0 AS throttled_count,
        0 AS not_found_count, 0 AS error_count, 0 AS retry_count,
        NULL AS first_error,
        NULL AS received_bytes, NULL AS min_received_bytes, NULL AS max_received_bytes,
        NULL AS sent_bytes, NULL AS min_sent_bytes, NULL AS max_sent_bytes,
        'none' AS measured_by,
        NULL AS accounted_in, NULL AS byte_layer,
        NULL AS match_kind, [] AS match_kind_counts, NULL AS name_kind, [] AS name_kind_counts,
        [] AS sources
    FROM missed AS m
    LEFT JOIN dependency_coverage AS v
        ON m.run_uuid = v.run_uuid
        AND m.resource_id = v.resource_id
        AND m.operation = v.operation
)

SELECT
    d.run_dependency_id,
    d.run_uuid,
    CAST(d.attempt AS BIGINT) AS attempt,
    d.container_role,
    d.stage,
    d.resource_id,
    d.endpoint,
    d.operation,
    COALESCE(d.cluster, r.cluster) AS cluster,
    r.project,
    d.service,
    d.purpose,
    d.resource_kind,
    d.endpoint_kind,
    d.primary_resource_id,
    d.version,
    d.version_basis,
    d.credential,
    d.principal,
    d.declaration,
    d.first_seen_at,
    d.last_seen_at,
    CAST(d.connection_count AS BIGINT) AS connection_count,
    CAST(d.request_count AS BIGINT) AS request_count,
    CAST(d.denied_count AS BIGINT) AS denied_count,
    CAST(d.throttled_count AS BIGINT) AS throttled_count,
    CAST(d.not_found_count AS BIGINT) AS not_found_count,
    CAST(d.error_count AS BIGINT) AS error_count,
    CAST(d.retry_count AS BIGINT) AS retry_count,
    d.first_error,
    in_64_bits(d.received_bytes) AS received_bytes,
    in_64_bits(d.min_received_bytes) AS min_received_bytes,
    in_64_bits(d.max_received_bytes) AS max_received_bytes,
    in_64_bits(d.sent_bytes) AS sent_bytes,
    in_64_bits(d.min_sent_bytes) AS min_sent_bytes,
    in_64_bits(d.max_sent_bytes) AS max_sent_bytes,
    d.measured_by,
    d.accounted_in,
    d.byte_layer,
    d.match_kind,
    d.match_kind_counts,
    d.name_kind,
    d.name_kind_counts,
    d.sources,
    COALESCE(v.coverage, []) AS coverage,
    v.coverage_ratio,
    COALESCE(v.empty_means, 'not_observed') AS empty_means,
    r.is_final
FROM dependencies AS d
INNER JOIN active_runs AS r ON d.run_uuid = r.run_uuid
LEFT JOIN dependency_coverage AS v
    ON d.run_uuid = v.run_uuid AND d.resource_id = v.resource_id AND d.operation = v.operation
