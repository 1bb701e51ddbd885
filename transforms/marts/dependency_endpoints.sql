-- What the endpoint catalogue says of each host. Of the verified patterns that fit, the one with
-- the most literal characters names the host, of two such the first in the alphabet. A host that
-- only unverified patterns fit gets no service and no kind, only a hint.
-- Grain: one host that some pattern fits.
-- Reads: dependency_connections, dependency_flows, dependency_objects, dependency_pulls, endpoints.
WITH hosts AS (
    SELECT endpoint FROM dependency_connections
    UNION
    SELECT endpoint FROM dependency_flows
    UNION
    SELECT endpoint FROM dependency_objects
    UNION
    SELECT endpoint FROM dependency_pulls
),

-- `!` cannot stand in a host name, so it is free to escape what LIKE would read as a wildcard.
patterns AS (
    SELECT
        pattern, service, operation, kind, is_verified,
        REPLACE(REPLACE(REPLACE(REPLACE(pattern, '%', '!%'), '_', '!_'), '*', '%'), '?', '_')
            AS like_pattern,
        LENGTH(REPLACE(REPLACE(pattern, '*', ''), '?', '')) AS literal_length
    FROM endpoints
),

ranked AS (
    SELECT
        h.endpoint, p.service, p.operation, p.kind, p.is_verified,
        ROW_NUMBER() OVER (
            PARTITION BY h.endpoint
            ORDER BY p.is_verified DESC, p.literal_length DESC, p.pattern
        ) AS place
    FROM hosts AS h
    INNER JOIN patterns AS p ON h.endpoint LIKE p.like_pattern ESCAPE '!'
    WHERE h.endpoint IS NOT NULL
)

SELECT
    endpoint,
    CASE WHEN is_verified THEN service END AS service,
    CASE WHEN is_verified THEN operation ELSE 'unverified: ' || service || ', ' || operation END
        AS purpose,
    CASE WHEN is_verified THEN kind END AS endpoint_kind
FROM ranked
WHERE place = 1
