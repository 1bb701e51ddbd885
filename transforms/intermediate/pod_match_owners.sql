-- Who a record can mean: what is newest known of each pod, and nobody.
-- Grain: one pod, numbered from 1 by `owner`; 0 is nobody. pod_match_crowds adds those below 0.
-- `is_plain`: every interval of the pod has this name, and no other cluster has a pod of this UID.
-- `is_single`: it has one interval. `match_kind` and `candidates` (UIDs, chr(31) between them) are
-- null for pods.
-- Reads: pod_match_windows.
WITH counts AS (
    SELECT pod_uid, COUNT(*) AS intervals
    FROM pod_match_windows
    GROUP BY pod_uid
),

-- Few pods have several intervals: only these are compared and put in order.
several AS (
    SELECT w.*
    FROM pod_match_windows AS w
    INNER JOIN counts AS c ON w.pod_uid = c.pod_uid
    WHERE c.intervals > 1
),

uids AS (
    SELECT
        pod_uid,
        COALESCE(
            MIN(cluster) = MAX(cluster)
            AND COUNT(namespace) = COUNT(*)
            AND COUNT(pod_name) = COUNT(*)
            AND MIN(namespace) = MAX(namespace)
            AND MIN(pod_name) = MAX(pod_name),
            FALSE
        ) AS is_plain
    FROM several
    GROUP BY pod_uid
),

newest AS (
    SELECT s.*, u.is_plain, FALSE AS is_single
    FROM several AS s
    INNER JOIN uids AS u ON s.pod_uid = u.pod_uid
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY s.cluster, s.pod_uid
        ORDER BY s.known_on DESC, s.start_us DESC, s.pod_interval_id
    ) = 1
    UNION ALL
    SELECT
        w.*, w.namespace IS NOT NULL AND w.pod_name IS NOT NULL AS is_plain, TRUE AS is_single
    FROM pod_match_windows AS w
    INNER JOIN counts AS c ON w.pod_uid = c.pod_uid
    WHERE c.intervals = 1
)

SELECT
    ROW_NUMBER() OVER () AS owner,
    cluster,
    pod_uid,
    namespace,
    pod_name,
    node,
    run_uuid,
    attempt,
    is_plain,
    is_single,
    CAST(NULL AS VARCHAR) AS match_kind,
    CAST(NULL AS VARCHAR) AS candidates
FROM newest
UNION ALL
SELECT 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, FALSE, FALSE, 'none', NULL
