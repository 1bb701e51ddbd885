-- When owners were in contact with hosts of object storage.
-- Grain: one connection, or one window with bytes.
-- Reads: dependency_connections, dependency_flows, dependency_hosts.
SELECT
    c.owner_key, c.run_uuid, c.resource_id, h.endpoint, h.provider, h.bucket,
    epoch_us(c.first_at) AS start_us,
    epoch_us(c.last_at) AS end_us
FROM dependency_connections AS c
INNER JOIN dependency_hosts AS h ON c.resource_id = h.resource_id
UNION ALL
SELECT
    f.owner_key, f.run_uuid, f.resource_id, h.endpoint, h.provider, h.bucket,
    epoch_us(f.first_at) AS start_us,
    epoch_us(f.last_at) AS end_us
FROM dependency_flows AS f
INNER JOIN dependency_hosts AS h ON f.resource_id = h.resource_id
WHERE f.operation = 'connect'
