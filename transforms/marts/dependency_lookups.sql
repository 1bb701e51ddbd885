-- Look-ups of the day per client and resolver. A look-up that two sources saw counts once: per
-- client, name, type and hour the source that saw most counts, the others are left out.
-- Grain: one client, stage, resolver and way of knowing the client.
-- Reads: dns_lookups, match_output, stage_output, services.
-- Parameters: $day_start, $day_end.
WITH asked AS (
    SELECT
        d.*,
        COALESCE(m.cluster, d.cluster) AS home,
        m.pod_uid, m.run_uuid, m.attempt,
        m.match_kind,
        COALESCE(g.stage, 'unknown') AS stage,
        COALESCE('pod ' || m.pod_uid, 'address ' || d.client_address, 'nobody') AS owner_key,
        epoch_us(d.event_at) // 3600000000 AS hour_number
    FROM dns_lookups AS d
    INNER JOIN match_output AS m
        ON m.item_id = row_id([
            id_text(d.cluster), id_text(d.client_address), id_text(d.client_namespace),
            id_text(d.client_pod_name), id_text(d.client_pod_uid),
            id_text(epoch_us(d.event_at) // 1000000)
        ])
    LEFT JOIN stage_output AS g ON m.item_id = g.item_id
    WHERE
        d.event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND d.event_at < CAST($day_end AS TIMESTAMPTZ)
),

counted AS (
    SELECT
        home, owner_key, query_name, query_type, hour_number, source_format,
        COUNT(*) AS lookup_count,
        COUNT(resolver_address) AS resolver_count
    FROM asked
    GROUP BY home, owner_key, query_name, query_type, hour_number, source_format
),

chosen AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY home, owner_key, query_name, query_type, hour_number
            ORDER BY lookup_count DESC, resolver_count DESC, source_format
        ) AS place
    FROM counted
),

service_states AS (
    SELECT
        cluster, namespace, service, addresses,
        ROW_NUMBER() OVER (
            PARTITION BY cluster, namespace, service
            ORDER BY observed_at DESC, record_id DESC, export_file_id DESC, record_index DESC,
                row_index DESC
        ) AS place
    FROM services
    WHERE observed_at < CAST($day_end AS TIMESTAMPTZ) OR created_at < CAST($day_end AS TIMESTAMPTZ)
),

service_addresses AS (
    SELECT cluster, address, MIN(namespace || '/' || service) AS service
    FROM (
        SELECT cluster, namespace, service, UNNEST(addresses) AS address
        FROM service_states
        WHERE place = 1
    )
    GROUP BY cluster, address
    HAVING COUNT(DISTINCT namespace || '/' || service) = 1
),

placed AS (
    SELECT
        a.*,
        CASE
            WHEN a.resolver_address IS NULL THEN 'dns://(unknown):53'
            WHEN s.service IS NOT NULL THEN 'kube://' || a.home || '/' || s.service || ':53'
            WHEN a.resolver_address LIKE '%:%' THEN 'ip://[' || a.resolver_address || ']:53'
            ELSE 'ip://' || a.resolver_address || ':53'
        END AS resource_id,
        CASE WHEN s.service IS NULL THEN a.resolver_address END AS endpoint,
        CASE
            WHEN a.resolver_address IS NULL THEN 'unknown'
            WHEN s.service IS NOT NULL THEN 'service'
            ELSE 'address'
        END AS resource_kind
    FROM asked AS a
    INNER JOIN chosen AS c
        ON a.home IS NOT DISTINCT FROM c.home
        AND a.owner_key = c.owner_key
        AND a.query_name = c.query_name
        AND a.query_type IS NOT DISTINCT FROM c.query_type
        AND a.hour_number = c.hour_number
        AND a.source_format = c.source_format
        AND c.place = 1
    LEFT JOIN service_addresses AS s
        ON a.home = s.cluster AND a.resolver_address = s.address
)

SELECT
    home AS cluster,
    run_uuid,
    attempt,
    pod_uid,
    resource_id,
    endpoint,
    resource_kind,
    match_kind,
    stage,
    MIN(event_at) AS first_at,
    MAX(event_at) AS last_at,
    COUNT(*) AS request_count,
    COUNT(*) FILTER (WHERE rcode = 'REFUSED') AS denied_count,
    COUNT(*) FILTER (WHERE rcode = 'NXDOMAIN') AS not_found_count,
    COUNT(*) FILTER (WHERE rcode NOT IN ('NOERROR', 'NXDOMAIN', 'REFUSED')) AS error_count,
    MIN(
        CASE
            WHEN rcode NOT IN ('NOERROR', 'NXDOMAIN')
                THEN STRUCT_PACK(us := epoch_us(event_at), id := record_id, error := rcode)
        END
    ) AS first_error
FROM placed
GROUP BY
    home, run_uuid, attempt, pod_uid, resource_id, endpoint, resource_kind, match_kind, stage
