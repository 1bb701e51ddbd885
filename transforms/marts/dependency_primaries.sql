-- Which host of a service sent a pod on to another one, by the order in time: a blob host is
-- contacted at most 10 s after a primary host of the same service was in use by the same pod, a
-- redirecting host at most 10 s before. Only hosts that the catalogue knows for sure take part.
-- Grain: one use whose connections speak of one primary host.
-- Reads: dependency_connections, dependency_endpoints.
WITH known AS (
    SELECT c.*, e.service, e.endpoint_kind
    FROM dependency_connections AS c
    INNER JOIN dependency_endpoints AS e ON c.endpoint = e.endpoint
    WHERE
        c.pod_uid IS NOT NULL
        AND NOT c.is_dropped
        AND e.service IS NOT NULL
        AND e.endpoint_kind IN ('primary', 'blob', 'redirect')
),

-- A day has few hours, so that long connections stay few rows.
primaries AS (
    SELECT
        owner_key, service, resource_id, first_at, last_at,
        UNNEST(RANGE(
            epoch_us(first_at - INTERVAL 10 SECOND) // 3600000000,
            epoch_us(last_at + INTERVAL 10 SECOND) // 3600000000 + 1
        )) AS hour_bucket
    FROM known
    WHERE endpoint_kind = 'primary'
),

sent_on AS (
    SELECT k.connection_id, p.resource_id AS primary_resource_id
    FROM known AS k
    INNER JOIN primaries AS p
        ON k.owner_key = p.owner_key
        AND k.service = p.service
        AND epoch_us(k.first_at) // 3600000000 = p.hour_bucket
        AND CASE k.endpoint_kind
            WHEN 'blob'
                THEN p.first_at <= k.first_at AND p.last_at >= k.first_at - INTERVAL 10 SECOND
            ELSE p.first_at >= k.first_at AND p.first_at <= k.first_at + INTERVAL 10 SECOND
        END
    WHERE k.endpoint_kind <> 'primary' AND k.is_started
    GROUP BY k.connection_id, p.resource_id
)

SELECT
    k.cluster, k.run_uuid, k.attempt, k.container_role, k.stage, k.resource_id, k.endpoint,
    MIN(s.primary_resource_id) AS primary_resource_id
FROM known AS k
INNER JOIN sent_on AS s ON k.connection_id = s.connection_id
GROUP BY k.cluster, k.run_uuid, k.attempt, k.container_role, k.stage, k.resource_id, k.endpoint
HAVING MIN(s.primary_resource_id) = MAX(s.primary_resource_id)
