-- One pod holding one address over one interval, as far as the day knows it.
-- Grain: one pod and address that the day touches.
-- Reads: pod_interval_addresses, pod_interval_pods, pod_interval_nodes, pod_interval_attempts,
--   pod_interval_claims, pod_interval_gaps.
-- Parameters: $cluster, $day_end.
SELECT
    row_id([
        id_text($cluster), id_text(a.pod_uid), id_text(a.address), id_time(a.start_at)
    ]) AS pod_interval_id,
    CAST($cluster AS VARCHAR) AS cluster,
    p.namespace,
    p.pod_name,
    a.pod_uid,
    a.address,
    a.start_at,
    a.end_at,
    p.node,
    n.zone,
    n.region,
    p.host_network,
    p.labels,
    p.service_account,
    a.start_basis,
    a.end_basis,
    p.created_at,
    LEAST(p.last_seen_at, CAST($day_end AS TIMESTAMPTZ)) AS last_seen_at,
    p.phase,
    p.run_uuid,
    t.attempt,
    g.attempt_basis,
    p.replica_type,
    p.replica_index,
    p.run_match_kind,
    p.run_component,
    p.run_owner,
    p.project,
    CAST(CASE WHEN c.pod_uid IS NULL THEN p.gpu_count ELSE p.gpu_count + c.gpu_count END AS BIGINT)
        AS gpu_count
FROM pod_interval_addresses AS a
INNER JOIN pod_interval_pods AS p ON a.pod_uid = p.pod_uid
LEFT JOIN pod_interval_nodes AS n ON p.node = n.node
LEFT JOIN pod_interval_attempts AS t ON a.pod_uid = t.pod_uid
LEFT JOIN pod_interval_gaps AS g ON p.run_uuid = g.run_uuid
LEFT JOIN pod_interval_claims AS c ON a.pod_uid = c.pod_uid
WHERE a.touches_day
