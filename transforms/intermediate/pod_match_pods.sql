-- What is newest known of each pod.
-- Grain: one pod (`member` is `cluster/UID`).
-- Reads: pod_match_windows.
SELECT
    cluster || '/' || pod_uid AS member,
    cluster,
    pod_uid,
    namespace,
    pod_name,
    node,
    run_uuid,
    attempt
FROM pod_match_windows
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY cluster, pod_uid ORDER BY known_on DESC, start_us DESC, pod_interval_id
) = 1
