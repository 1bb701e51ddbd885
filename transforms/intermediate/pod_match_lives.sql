-- The windows of pod_match_windows with the number of their pod and nothing that is the pod's own,
-- so that they are small.
-- Grain: one window.
-- Reads: pod_match_windows, pod_match_pods.
SELECT
    p.pod_number,
    w.cluster,
    w.pod_uid,
    w.namespace,
    w.pod_name,
    w.address,
    w.host_network,
    w.life_start_us,
    w.start_us,
    w.end_us
FROM pod_match_windows AS w
INNER JOIN pod_match_pods AS p ON w.cluster = p.cluster AND w.pod_uid = p.pod_uid
