-- Lives of pods, for what names a pod or its service account without an address.
-- Grain: one pod.
-- Reads: pod_match_windows, pod_intervals.
WITH accounts AS (
    SELECT cluster, pod_uid, ARG_MAX(service_account, date) AS service_account
    FROM pod_intervals
    WHERE service_account IS NOT NULL
    GROUP BY cluster, pod_uid
)

SELECT
    w.cluster,
    w.pod_uid,
    ARG_MAX(w.namespace, w.known_on) AS namespace,
    ARG_MAX(w.pod_name, w.known_on) AS pod_name,
    ARG_MAX(w.node, w.known_on) AS node,
    ARG_MAX(w.run_uuid, w.known_on) AS run_uuid,
    ARG_MAX(w.attempt, w.known_on) AS attempt,
    MIN(a.service_account) AS service_account,
    MIN(w.life_start_us) AS start_us,
    MAX(w.end_us) AS end_us
FROM pod_match_windows AS w
LEFT JOIN accounts AS a ON w.cluster = a.cluster AND w.pod_uid = a.pod_uid
GROUP BY w.cluster, w.pod_uid
