-- Connections of the look-back with hosts from which runs fetch what they are made of: services of
-- the catalogue, and the hosts of git repositories that the run itself declares. Hosts that only
-- authenticate or describe serve nothing, and bytes that a request log accounts for stand there.
-- Grain: one row of run_dependency_days.
-- Reads: run_dependency_days (days of the look-back), repeat_contact_kinds, repeat_declared.
-- Parameters: $look_back_start.
WITH connected AS (
    SELECT
        d.*,
        REGEXP_EXTRACT(d.resource_id, '^dns://(.+):[0-9]+(?:/udp)?$', 1) AS host,
        k.resource_kind AS service_kind
    FROM run_dependency_days AS d
    LEFT JOIN repeat_contact_kinds AS k ON d.service = k.service
    WHERE
        d.date >= CAST($look_back_start AS DATE)
        AND d.operation = 'connect'
        AND d.resource_id LIKE 'dns://%'
        AND d.accounted_in IS NULL
        AND COALESCE(d.endpoint_kind, 'primary') NOT IN ('auth', 'metadata')
        -- Connections of the day before may go on without a new one; denied ones fetch nothing.
        AND (d.connection_count = 0 OR d.connection_count > d.denied_count)
)

SELECT
    c.date,
    c.cluster,
    c.run_uuid,
    c.attempt,
    c.project,
    c.resource_id,
    c.host,
    COALESCE(c.service_kind, 'git') AS resource_kind,
    c.service,
    c.pod_uids,
    c.reader_region,
    c.match_kind,
    c.measured_by,
    c.first_seen_at,
    c.connection_count,
    c.received_bytes,
    c.min_received_bytes,
    c.max_received_bytes
FROM connected AS c
WHERE
    c.service_kind IS NOT NULL
    OR EXISTS (
        SELECT 1
        FROM repeat_declared AS g
        WHERE g.date = c.date AND g.run_uuid = c.run_uuid AND g.host = c.host
    )
