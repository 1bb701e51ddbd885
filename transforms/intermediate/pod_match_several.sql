-- Pods that have several windows, which are few: only these are compared and put in order.
-- Grain: one window of such a pod. `owner`: the pod's number, which is that of the window in which
-- what is newest is known of it. `is_plain`: all windows of the UID have one cluster, namespace and
-- name.
-- Reads: pod_match_windows.
WITH uids AS (
    SELECT pod_uid
    FROM pod_match_windows
    GROUP BY pod_uid
    HAVING COUNT(*) > 1
)

SELECT
    w.number,
    FIRST_VALUE(w.number) OVER (
        PARTITION BY w.cluster, w.pod_uid
        ORDER BY w.known_on DESC, w.start_us DESC, w.pod_interval_id
    ) AS owner,
    COALESCE(
        MIN(w.cluster) OVER of_uid = MAX(w.cluster) OVER of_uid
        AND COUNT(w.namespace) OVER of_uid = COUNT(*) OVER of_uid
        AND COUNT(w.pod_name) OVER of_uid = COUNT(*) OVER of_uid
        AND MIN(w.namespace) OVER of_uid = MAX(w.namespace) OVER of_uid
        AND MIN(w.pod_name) OVER of_uid = MAX(w.pod_name) OVER of_uid,
        FALSE
    ) AS is_plain
FROM pod_match_windows AS w
INNER JOIN uids AS u ON w.pod_uid = u.pod_uid
WINDOW of_uid AS (PARTITION BY w.pod_uid)
