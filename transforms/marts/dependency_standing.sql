-- Bytes between addresses in each hour, with those that stand in the row of the resource contacted.
-- Where a request log accounts for an owner's bytes to a resource, none do; where it explains only
-- a part, the rest does, and is not certain (definitions.md 21).
-- Grain: one owner, use, way of knowing it, direction, source and hour.
-- Reads: dependency_flows, dependency_owners.
WITH flowing AS (
    SELECT
        f.cluster, f.run_uuid, f.attempt, f.container_role, f.stage, f.resource_id, f.endpoint,
        f.resource_kind, f.operation, f.owner_key, f.pod_uid, f.match_kind, f.name_kind,
        f.measured_by, f.byte_layer, f.direction,
        epoch_us(f.first_at) // 3600000000 AS hour_number,
        MIN(f.first_at) AS first_at,
        MAX(f.last_at) AS last_at,
        SUM(f.bytes) AS bytes,
        SUM(f.min_bytes) AS min_bytes,
        CASE WHEN COUNT(*) = COUNT(f.max_bytes) THEN SUM(f.max_bytes) END AS max_bytes,
        COUNT(*) AS row_count
    FROM dependency_flows AS f
    GROUP BY
        f.cluster, f.run_uuid, f.attempt, f.container_role, f.stage, f.resource_id, f.endpoint,
        f.resource_kind, f.operation, f.owner_key, f.pod_uid, f.match_kind, f.name_kind,
        f.measured_by, f.byte_layer, f.direction, hour_number
),

-- Logged bytes are taken off an owner's flows in a fixed order, so that what remains adds up to
-- max(0, flow - logged) however many flows and hours there are.
ordered AS (
    SELECT
        f.*,
        COALESCE(o.is_accounted, FALSE) AND f.operation = 'connect' AS is_accounted,
        o.accounted_in,
        o.accounted_bytes,
        CASE
            WHEN f.operation <> 'connect' OR o.owner_key IS NULL THEN 0
            WHEN f.direction = 'receive' THEN o.logged_received_bytes
            ELSE o.logged_sent_bytes
        END AS logged_bytes,
        f.operation = 'connect' AND o.accounted_in IS NOT NULL AS is_explained,
        SUM(f.bytes) OVER (
            PARTITION BY f.owner_key, f.resource_id, f.operation, f.direction
            ORDER BY
                f.measured_by, f.byte_layer, f.container_role, f.stage, f.cluster, f.run_uuid,
                f.attempt, f.match_kind, f.name_kind, f.endpoint, f.hour_number
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS running_bytes
    FROM flowing AS f
    LEFT JOIN dependency_owners AS o
        ON f.owner_key = o.owner_key AND f.resource_id = o.resource_id
)

SELECT
    *,
    GREATEST(0, running_bytes - logged_bytes)
        - GREATEST(0, running_bytes - bytes - logged_bytes) AS standing_bytes
FROM ordered
