-- What is newest known of each pod.
-- Grain: one pod, numbered from 1. `is_plain`: every interval of it has this name, and no other
-- cluster has a pod of this UID.
-- Reads: pod_match_windows.
WITH newest AS (
    SELECT *
    FROM pod_match_windows
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY cluster, pod_uid ORDER BY known_on DESC, start_us DESC, pod_interval_id
    ) = 1
),

uids AS (
    SELECT
        pod_uid,
        MIN(cluster) = MAX(cluster)
            AND COUNT(namespace) = COUNT(*)
            AND COUNT(pod_name) = COUNT(*)
            AND MIN(namespace) = MAX(namespace)
            AND MIN(pod_name) = MAX(pod_name) AS is_plain
    FROM pod_match_windows
    GROUP BY pod_uid
)

SELECT
    ROW_NUMBER() OVER () AS pod_number,
    n.cluster,
    n.pod_uid,
    n.namespace,
    n.pod_name,
    n.node,
    n.run_uuid,
    n.attempt,
    COALESCE(u.is_plain, FALSE) AS is_plain
FROM newest AS n
INNER JOIN uids AS u ON n.pod_uid = u.pod_uid
