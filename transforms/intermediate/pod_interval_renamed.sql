-- When flows first show that an address has gone to another pod, of pods that nobody saw end.
-- Flows name the next pod of an address even where no export of Kubernetes knows it. Only names
--   behind the last sight of the pod itself count, by states or by flows: an agent that learns late
--   of a new pod gives its first packets the name of the one before.
-- Clocks of nodes differ: the address is surely the pod's own until twice the guard before.
-- Grain: one pod and address.
-- Reads: flows, pod_interval_states, pod_interval_pods.
-- Parameters: $cluster, $span_start, $read_until, $skew_guard (interval).
WITH shown AS (
    SELECT DISTINCT pod_uid, UNNEST(addresses) AS address FROM pod_interval_states
),

untold AS (
    SELECT
        s.pod_uid, s.address, p.namespace, p.pod_name,
        GREATEST(p.created_at, p.seen_alive_at) AS alive_at
    FROM shown AS s
    INNER JOIN pod_interval_pods AS p ON s.pod_uid = p.pod_uid
    WHERE s.address IS NOT NULL AND p.proven_end_at IS NULL AND NOT p.host_network
),

ends AS (
    SELECT
        source_address AS address, source_namespace AS namespace,
        source_pod_name AS pod_name, event_at
    FROM flows
    WHERE
        cluster = $cluster
        AND event_at >= CAST($span_start AS TIMESTAMPTZ)
        AND event_at < CAST($read_until AS TIMESTAMPTZ)
        AND source_pod_name IS NOT NULL
        -- An agent may tell late that the pod before has lost the address.
        AND agent_event IS DISTINCT FROM 'IPCACHE_DELETED'
        AND source_address IN (SELECT address FROM untold)
    UNION ALL
    SELECT
        destination_address AS address, destination_namespace AS namespace,
        destination_pod_name AS pod_name, event_at
    FROM flows
    WHERE
        cluster = $cluster
        AND event_at >= CAST($span_start AS TIMESTAMPTZ)
        AND event_at < CAST($read_until AS TIMESTAMPTZ)
        AND destination_pod_name IS NOT NULL
        AND destination_address IN (SELECT address FROM untold)
),

named AS (
    SELECT
        u.pod_uid, u.address, e.event_at,
        -- A mask may leave the namespace out.
        e.pod_name = u.pod_name AND COALESCE(e.namespace, u.namespace) = u.namespace AS is_own,
        u.alive_at
    FROM untold AS u
    INNER JOIN ends AS e ON u.address = e.address
),

last_own AS (
    SELECT
        pod_uid, address,
        GREATEST(MAX(alive_at), MAX(CASE WHEN is_own THEN event_at END)) AS last_at
    FROM named
    GROUP BY pod_uid, address
)

SELECT
    n.pod_uid, n.address, MIN(n.event_at) - 2 * CAST($skew_guard AS INTERVAL) AS renamed_at
FROM named AS n
INNER JOIN last_own AS l ON n.pod_uid = l.pod_uid AND n.address = l.address
WHERE NOT n.is_own AND n.event_at > l.last_at
GROUP BY n.pod_uid, n.address
