-- Contributions of connections and of bytes between addresses, each with the bytes that stand here.
-- Grain: one owner, use, way of knowing it, and for bytes direction and source.
-- Reads: dependency_connections, dependency_standing, dependency_owners.
WITH connected AS (
    SELECT
        c.cluster, c.run_uuid, c.attempt, c.container_role, c.stage, c.resource_id, c.endpoint,
        c.resource_kind, c.owner_key, c.pod_uid, c.match_kind, c.name_kind,
        MIN(c.first_at) AS first_at,
        MAX(c.last_at) AS last_at,
        COUNT(*) FILTER (WHERE c.is_started) AS connection_count,
        COUNT(*) FILTER (WHERE c.is_started AND c.is_dropped AND c.is_policy) AS denied_count,
        COUNT(*) FILTER (WHERE c.is_started AND c.is_dropped AND NOT c.is_policy)
            + SUM(c.http_error_count) AS error_count,
        SUM(CASE WHEN c.is_started THEN GREATEST(0, c.attempt_count - 1) ELSE 0 END)
            AS retry_count,
        MIN(
            CASE
                WHEN c.first_error IS NOT NULL
                    THEN STRUCT_PACK(
                        us := epoch_us(c.first_at), id := c.connection_id, error := c.first_error
                    )
            END
        ) AS first_error,
        COUNT(*) AS row_count
    FROM dependency_connections AS c
    GROUP BY
        c.cluster, c.run_uuid, c.attempt, c.container_role, c.stage, c.resource_id, c.endpoint,
        c.resource_kind, c.owner_key, c.pod_uid, c.match_kind, c.name_kind
),

-- The source of bytes on the row of the connections that they belong to.
sources AS (
    SELECT
        owner_key, resource_id, container_role, stage,
        MIN(LIST_POSITION(
            [
                'storage_log', 'registry_log', 'flow_record', 'sampled_flow_record',
                'interface_counter', 'application_log', 'image_size', 'none'
            ],
            measured_by
        )) AS best
    FROM dependency_standing
    WHERE operation = 'connect' AND NOT is_accounted
    GROUP BY owner_key, resource_id, container_role, stage
)

SELECT
    c.cluster, c.run_uuid, c.attempt, c.container_role, c.stage, c.resource_id, c.endpoint,
    'connect' AS operation,
    COALESCE(
        [
            'storage_log', 'registry_log', 'flow_record', 'sampled_flow_record',
            'interface_counter', 'application_log', 'image_size', 'none'
        ][s.best],
        'none'
    ) AS measured_by,
    c.resource_kind, c.pod_uid, c.first_at, c.last_at, c.connection_count, c.denied_count,
    c.error_count, c.retry_count, c.first_error,
    CAST(NULL AS VARCHAR) AS direction,
    CAST(NULL AS HUGEINT) AS bytes,
    CAST(NULL AS HUGEINT) AS min_bytes,
    CAST(NULL AS HUGEINT) AS max_bytes,
    CASE WHEN o.is_accounted THEN o.accounted_in END AS accounted_in,
    CASE WHEN o.is_accounted THEN o.accounted_bytes END AS accounted_bytes,
    CAST(NULL AS VARCHAR) AS byte_layer,
    c.match_kind, c.name_kind, c.row_count,
    'flows' AS source
FROM connected AS c
LEFT JOIN dependency_owners AS o
    ON c.owner_key = o.owner_key AND c.resource_id = o.resource_id
LEFT JOIN sources AS s
    ON c.owner_key = s.owner_key
    AND c.resource_id = s.resource_id
    AND c.container_role IS NOT DISTINCT FROM s.container_role
    AND c.stage = s.stage
UNION ALL
SELECT
    cluster, run_uuid, attempt, container_role, stage, resource_id, endpoint, operation,
    CASE WHEN is_accounted THEN 'none' ELSE measured_by END AS measured_by,
    resource_kind, pod_uid,
    MIN(first_at) AS first_at,
    MAX(last_at) AS last_at,
    0 AS connection_count, 0 AS denied_count, 0 AS error_count, 0 AS retry_count,
    CAST(NULL AS STRUCT(us BIGINT, id VARCHAR, error VARCHAR)) AS first_error,
    CASE WHEN NOT is_accounted THEN direction END AS direction,
    CASE WHEN NOT is_accounted THEN SUM(standing_bytes) END AS bytes,
    CASE
        WHEN is_accounted THEN NULL
        WHEN is_explained THEN 0
        ELSE SUM(min_bytes)
    END AS min_bytes,
    CASE WHEN NOT is_accounted AND COUNT(*) = COUNT(max_bytes) THEN SUM(max_bytes) END AS max_bytes,
    CASE WHEN is_accounted THEN accounted_in END AS accounted_in,
    CASE WHEN is_accounted THEN accounted_bytes END AS accounted_bytes,
    CASE WHEN NOT is_accounted THEN byte_layer END AS byte_layer,
    match_kind, name_kind,
    SUM(row_count) AS row_count,
    'volume_records' AS source
FROM dependency_standing
GROUP BY
    cluster, run_uuid, attempt, container_role, stage, resource_id, endpoint, operation,
    measured_by, resource_kind, owner_key, pod_uid, direction, is_accounted, is_explained,
    accounted_in, accounted_bytes, byte_layer, match_kind, name_kind
