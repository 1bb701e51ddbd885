-- What Cilium's agents tell of addresses of pods that states know.
-- An agent names a pod without its UID; it speaks of a pod where that pod was sure to have the name:
--   an address was given while the pod is known to be there, behind its creation and before its end
--   or the last sight of it alive; it was taken after that sight, and before the next pod of that
--   name was created. An address that came back under the name was not taken.
-- Every node's agent tells of every pod, and tells again when it starts: the first one counts.
-- Grain: one pod and address.
-- Reads: flows, pod_interval_pods.
-- Parameters: $cluster, $span_start, $read_until.
WITH events AS (
    SELECT DISTINCT
        source_namespace AS namespace,
        source_pod_name AS pod_name,
        source_address AS address,
        event_at,
        agent_event = 'IPCACHE_DELETED' AS is_taken
    FROM flows
    WHERE
        cluster = $cluster
        AND agent_event IN ('IPCACHE_UPSERTED', 'IPCACHE_DELETED')
        AND event_at >= CAST($span_start AS TIMESTAMPTZ)
        AND event_at < CAST($read_until AS TIMESTAMPTZ)
        AND source_namespace IS NOT NULL
        AND source_pod_name IS NOT NULL
        AND source_address IS NOT NULL
),

pods AS (
    SELECT
        pod_uid, namespace, pod_name, host_network, created_at,
        GREATEST(created_at, seen_alive_at) AS alive_at,
        GREATEST(created_at, seen_alive_at, proven_end_at) AS there_until_at,
        LEAD(created_at) OVER (
            PARTITION BY namespace, pod_name ORDER BY created_at, pod_uid
        ) AS next_created_at
    FROM pod_interval_pods
),

named AS (
    SELECT
        p.pod_uid, e.address, e.event_at, e.is_taken,
        e.event_at <= p.there_until_at AS is_there,
        e.event_at >= p.alive_at AS is_behind,
        MAX(CASE WHEN NOT e.is_taken THEN e.event_at END) OVER (
            PARTITION BY p.pod_uid, e.address
        ) AS last_given_at
    FROM events AS e
    INNER JOIN pods AS p
        ON e.namespace = p.namespace
        AND e.pod_name = p.pod_name
        AND e.event_at >= p.created_at
        AND (p.next_created_at IS NULL OR e.event_at < p.next_created_at)
    WHERE NOT p.host_network
)

SELECT
    pod_uid,
    address,
    MIN(event_at) FILTER (WHERE NOT is_taken AND is_there) AS given_at,
    -- Agents tell of one change within the skew of their clocks.
    MIN(event_at) FILTER (
        WHERE is_taken AND is_behind
        AND (last_given_at IS NULL OR last_given_at <= event_at + INTERVAL 2 SECOND)
    ) AS taken_at
FROM named
GROUP BY pod_uid, address
