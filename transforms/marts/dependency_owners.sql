-- What becomes of the bytes that flows show between an owner and a resource: they stand where flows
-- measured them, unless a request log accounts for them.
-- Grain: one owner and resource of network evidence.
-- Reads: dependency_connections, dependency_flows, dependency_hosts, dependency_explained.
WITH measured AS (
    SELECT
        owner_key, resource_id,
        SUM(min_bytes) AS min_bytes
    FROM dependency_flows
    WHERE operation = 'connect'
    GROUP BY owner_key, resource_id
),

owners AS (
    SELECT owner_key, resource_id FROM dependency_connections
    UNION
    SELECT owner_key, resource_id FROM dependency_flows WHERE operation = 'connect'
)

SELECT
    o.owner_key,
    o.resource_id,
    e.owner_key IS NOT NULL
    AND (
        h.bucket IS NOT NULL
        OR m.owner_key IS NULL
        OR (e.logged_received_bytes + e.logged_sent_bytes) * 10 >= m.min_bytes * 9
    ) AS is_accounted,
    e.accounted_in,
    e.accounted_bytes,
    COALESCE(e.logged_received_bytes, 0) AS logged_received_bytes,
    COALESCE(e.logged_sent_bytes, 0) AS logged_sent_bytes
FROM owners AS o
LEFT JOIN measured AS m ON o.owner_key = m.owner_key AND o.resource_id = m.resource_id
LEFT JOIN dependency_hosts AS h ON o.resource_id = h.resource_id
LEFT JOIN dependency_explained AS e
    ON o.owner_key = e.owner_key AND o.resource_id = e.resource_id
