-- Nodes that a resolver cache may speak for: the node's own address asked that day, none of its
-- pods did. What a pod asked is then told as the node's, or not at all where the cache knew it.
-- Grain: one node.
-- Reads: all_dns_lookups, pod_intervals, node_states.
-- Parameters: $cluster, $scope (cluster, or null for the fleet), $date, $day_start, $day_end.
WITH clients AS (
    SELECT DISTINCT client_address, client_pod_name, client_namespace, node
    FROM all_dns_lookups
    WHERE
        cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
        AND event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
),

pods AS (
    SELECT DISTINCT address, namespace, pod_name, node, COALESCE(host_network, FALSE) AS is_host
    FROM pod_intervals
    WHERE date = CAST($date AS DATE) AND cluster = $cluster AND node IS NOT NULL
),

own_addresses AS (
    SELECT DISTINCT node, address FROM pods WHERE is_host AND address IS NOT NULL
    UNION
    SELECT DISTINCT node, UNNEST(addresses) AS address FROM node_states WHERE cluster = $cluster
),

caching AS (
    SELECT a.node
    FROM clients AS c
    INNER JOIN own_addresses AS a ON c.client_address = a.address
    UNION
    SELECT node
    FROM clients
    WHERE
        node IS NOT NULL
        AND (
            client_address LIKE '169.254.%' OR client_address LIKE '127.%'
            OR client_address = '::1'
            OR REGEXP_MATCHES(client_address, '^fe[89ab][0-9a-f]:')
        )
),

asking AS (
    SELECT p.node
    FROM clients AS c
    INNER JOIN pods AS p ON c.client_address = p.address
    WHERE NOT p.is_host
    UNION
    SELECT p.node
    FROM clients AS c
    INNER JOIN pods AS p ON c.client_namespace = p.namespace AND c.client_pod_name = p.pod_name
    WHERE NOT p.is_host
)

SELECT node FROM caching WHERE node IS NOT NULL
EXCEPT
SELECT node FROM asking
