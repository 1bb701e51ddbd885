-- Names and runs of the pods whose bytes anything saw on the day, and whether they asked for a device
-- whose traffic passes no interface (reference/counters.md 1.1: RDMA, EFA, InfiniBand).
-- Grain: one pod.
-- Reads: pod_traffic, peer_traffic, object_transfers, image_pulls, container_states.
-- Parameters: $date.
WITH seen AS (
    SELECT cluster, pod_uid, namespace, pod_name, run_uuid, attempt
    FROM pod_traffic
    WHERE date = CAST($date AS DATE)
    UNION ALL
    SELECT cluster, pod_uid, namespace, pod_name, run_uuid, attempt
    FROM peer_traffic
    WHERE date = CAST($date AS DATE)
    UNION ALL
    SELECT cluster, pod_uid, namespace, pod_name, run_uuid, attempt
    FROM object_transfers
    WHERE date = CAST($date AS DATE)
    UNION ALL
    SELECT cluster, pod_uid, namespace, pod_name, run_uuid, attempt
    FROM image_pulls
    WHERE date = CAST($date AS DATE)
),

devices AS (
    SELECT pod_uid, UNNEST(LIST_CONCAT(COALESCE(requests, []), COALESCE(limits, []))) AS resource
    FROM container_states
),

bypassing AS (
    SELECT DISTINCT pod_uid
    FROM devices
    WHERE
        REGEXP_MATCHES(
            LOWER(resource.name), '(^|[^a-z0-9])(efa|rdma|hca|roce|infiniband|ib)([^a-z]|$)'
        )
        AND resource.value <> '0'
),

pods AS (
    SELECT
        pod_uid,
        MIN(cluster) AS cluster,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MAX(run_uuid) AS run_uuid,
        MAX(attempt) AS attempt
    FROM seen
    WHERE pod_uid IS NOT NULL
    GROUP BY pod_uid
)

SELECT
    p.*,
    CASE WHEN b.pod_uid IS NOT NULL THEN 'not_observed' END AS rdma
FROM pods AS p
LEFT JOIN bypassing AS b ON p.pod_uid = b.pod_uid
