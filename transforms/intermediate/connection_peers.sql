-- Connections with the pods of both ends and what the responder is; those that are no connections
-- of anybody's have a reason to be left out.
-- Grain: one connection.
-- Reads: connection_ordinals, match_output, services, pod_states, well_known_addresses.
WITH services_held AS (
    SELECT UNNEST(addresses) AS address, namespace, service
    FROM services
),

-- An address that came to mean another service names none.
service_addresses AS (
    SELECT
        address,
        MIN(namespace) AS namespace,
        MIN(service) AS service
    FROM services_held
    WHERE address IS NOT NULL
    GROUP BY address
    HAVING COUNT(DISTINCT namespace || '/' || service) = 1
),

owners AS (
    SELECT
        pod_uid,
        ARG_MAX(owner_kind, (observed_at, record_id)) AS owner_kind,
        ARG_MAX(owner_name, (observed_at, record_id)) AS owner_name
    FROM pod_states
    WHERE owner_name IS NOT NULL
    GROUP BY pod_uid
),

-- A replica set belongs to a deployment whose name it has, with a hash of the pod template.
workloads AS (
    SELECT
        pod_uid,
        CASE
            WHEN owner_kind = 'ReplicaSet'
                THEN REGEXP_REPLACE(owner_name, '-[bcdfghjklmnpqrstvwxz2456789]{5,10}$', '')
            ELSE owner_name
        END AS workload
    FROM owners
),

matched AS (
    SELECT
        c.*,
        i.pod_uid AS initiator_uid,
        i.namespace AS initiator_known_namespace,
        i.pod_name AS initiator_known_name,
        i.node AS initiator_known_node,
        i.run_uuid,
        i.attempt,
        i.match_kind AS initiator_match_kind,
        i.candidate_pod_uids AS initiator_candidates,
        r.pod_uid AS responder_uid,
        r.namespace AS responder_known_namespace,
        r.pod_name AS responder_known_name,
        r.node AS responder_known_node,
        r.run_uuid AS responder_run_uuid,
        r.match_kind AS responder_match_kind,
        r.candidate_pod_uids AS responder_candidates,
        COALESCE(SPLIT_PART(c.responder_service, '/', 1), s.namespace) AS service_namespace,
        COALESCE(SPLIT_PART(c.responder_service, '/', 2), s.service) AS service,
        w.workload,
        k.name AS known_address_name,
        COALESCE(k.is_metadata, FALSE) AS is_metadata
    FROM connection_ordinals AS c
    -- Said of each end again, so that the other ends are matched for neither.
    INNER JOIN match_output AS i ON c.connection * 2 = i.item_id AND i.item_id % 2 = 0
    INNER JOIN match_output AS r ON c.connection * 2 + 1 = r.item_id AND r.item_id % 2 = 1
    LEFT JOIN service_addresses AS s ON c.responder_address = s.address
    LEFT JOIN workloads AS w ON r.pod_uid = w.pod_uid
    LEFT JOIN well_known_addresses AS k ON c.responder_address = k.address
),

-- Resolvers that listen on another port are told by the look-ups that Hubble saw there.
resolvers AS (
    SELECT DISTINCT responder_address, responder_port
    FROM connection_ordinals
    WHERE is_dns
),

-- A proxy's own address is never a pod's: where another flow names a pod that has the address, this
-- one only lacks the name.
named AS (
    SELECT DISTINCT initiator_address AS address
    FROM connection_ordinals
    WHERE
        initiator_pod_name IS NOT NULL
        AND initiator_address IN (
            SELECT initiator_address FROM connection_ordinals WHERE is_from_proxy
        )
),

-- An export that names no pods tells nothing by leaving one out.
capable AS (
    SELECT
        COALESCE(BOOL_OR(initiator_pod_name IS NOT NULL OR responder_pod_name IS NOT NULL), FALSE)
            AS names_pods
    FROM connection_ordinals
)

SELECT
    m.* EXCLUDE (is_dns),
    CASE
        WHEN m.is_metadata THEN 'metadata'
        WHEN m.is_to_api_server OR (m.service_namespace = 'default' AND m.service = 'kubernetes')
            THEN 'api_server'
        WHEN m.responder_uid IS NOT NULL OR m.responder_pod_name IS NOT NULL THEN 'pod'
        WHEN m.service IS NOT NULL THEN 'service'
        WHEN m.responder_match_kind = 'node' OR m.is_to_node THEN 'node'
        WHEN m.is_to_world OR is_public_address(m.responder_address) THEN 'outside'
        ELSE 'unknown'
    END AS peer_kind,
    CASE
        WHEN d.responder_address IS NOT NULL THEN 'dns'
        WHEN
            n.names_pods AND m.is_from_proxy AND m.initiator_uid IS NULL AND a.address IS NULL
            THEN 'proxy_upstream'
        WHEN m.initiator_uid IS NULL AND m.is_from_own_host THEN 'own_host'
        WHEN
            m.initiator_match_kind = 'node'
            AND m.responder_uid IS NOT NULL
            AND m.initiator_known_node = m.responder_known_node
            THEN 'own_host'
    END AS ignored_as
FROM matched AS m
CROSS JOIN capable AS n
LEFT JOIN named AS a ON m.initiator_address = a.address
LEFT JOIN resolvers AS d
    ON m.responder_address = d.responder_address
    AND m.responder_port IS NOT DISTINCT FROM d.responder_port
