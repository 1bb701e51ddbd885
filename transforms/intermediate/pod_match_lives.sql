-- The windows of pod_match_windows with the number of their pod and nothing that is the pod's own,
-- so that they are small.
-- Grain: one window. `is_single`: the pod has no other. `node` only of host-network pods.
-- Reads: pod_match_windows, pod_match_several.
SELECT
    COALESCE(s.owner, w.number) AS pod_number,
    s.owner IS NULL AS is_single,
    w.cluster,
    w.namespace,
    w.pod_name,
    w.address,
    w.host_network,
    CASE WHEN w.host_network THEN w.node END AS node,
    w.life_start_us,
    w.start_us,
    w.end_us
FROM pod_match_windows AS w
LEFT JOIN pod_match_several AS s ON w.number = s.number
