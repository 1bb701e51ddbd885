-- Bytes of flow records that no request log accounts for, with what their path is known by.
-- Logged bytes are taken off an owner's flows in the order of dependency_standing.sql, so that what
-- stands here adds up to the bytes of run_dependency_days.
-- Grain: one row of dependency_flows whose bytes stand here.
-- Reads: dependency_flows, dependency_owners, peer_traffic.
-- Parameters: $date.
WITH ordered AS (
    SELECT
        f.*,
        p.peer_address, p.peer_name, p.name_kind AS peer_name_kind, p.distance, p.gateway,
        COALESCE(o.is_accounted, FALSE) AND f.operation = 'connect' AS is_accounted,
        f.operation = 'connect' AND o.accounted_in IS NOT NULL AS is_explained,
        CASE
            WHEN f.operation <> 'connect' OR o.owner_key IS NULL THEN 0
            WHEN f.direction = 'receive' THEN o.logged_received_bytes
            ELSE o.logged_sent_bytes
        END AS logged_bytes,
        SUM(f.bytes) OVER (
            PARTITION BY f.owner_key, f.resource_id, f.operation, f.direction
            ORDER BY
                f.measured_by, f.byte_layer, f.container_role, f.stage, f.cluster, f.run_uuid,
                f.attempt, f.match_kind, f.name_kind, f.peer_traffic_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS running_bytes
    FROM dependency_flows AS f
    INNER JOIN peer_traffic AS p
        ON f.peer_traffic_id = p.peer_traffic_id AND p.date = CAST($date AS DATE)
    LEFT JOIN dependency_owners AS o
        ON f.owner_key = o.owner_key AND f.resource_id = o.resource_id
)

SELECT
    cluster, run_uuid, pod_uid, resource_id, endpoint, measured_by, direction, peer_address,
    CASE WHEN peer_name_kind = 'address_range' THEN peer_name END AS range_service,
    distance, gateway,
    GREATEST(0, running_bytes - logged_bytes)
        - GREATEST(0, running_bytes - bytes - logged_bytes) AS bytes,
    CASE WHEN is_explained THEN 0 ELSE min_bytes END AS min_bytes,
    max_bytes
FROM ordered
WHERE NOT is_accounted
