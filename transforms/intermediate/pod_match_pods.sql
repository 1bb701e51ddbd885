-- What is newest known of each pod.
-- Grain: one pod, numbered from 1. `is_plain`: every interval of it has this name, and no other
-- cluster has a pod of this UID.
-- Reads: pod_match_windows.
WITH uids AS (
    SELECT
        pod_uid,
        COUNT(*) AS intervals,
        COALESCE(
            MIN(cluster) = MAX(cluster)
            AND COUNT(namespace) = COUNT(*)
            AND COUNT(pod_name) = COUNT(*)
            AND MIN(namespace) = MAX(namespace)
            AND MIN(pod_name) = MAX(pod_name),
            FALSE
        ) AS is_plain
    FROM pod_match_windows
    GROUP BY pod_uid
),

newest AS (
    SELECT w.*, u.is_plain
    FROM pod_match_windows AS w
    INNER JOIN uids AS u ON w.pod_uid = u.pod_uid
    WHERE u.intervals = 1
    UNION ALL
    -- Few pods have several intervals: only these are put in order.
    SELECT w.*, u.is_plain
    FROM pod_match_windows AS w
    INNER JOIN uids AS u ON w.pod_uid = u.pod_uid
    WHERE u.intervals > 1
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY w.cluster, w.pod_uid
        ORDER BY w.known_on DESC, w.start_us DESC, w.pod_interval_id
    ) = 1
)

SELECT
    ROW_NUMBER() OVER () AS pod_number,
    cluster,
    pod_uid,
    namespace,
    pod_name,
    node,
    run_uuid,
    attempt,
    is_plain
FROM newest
