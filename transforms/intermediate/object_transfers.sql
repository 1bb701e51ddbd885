-- object_transfers: one client moving one object version in one burst.
-- Grain: (transfer_id).
-- Reads: transfer_bursts, transfer_resources, transfer_places, match_output, pod_intervals,
--   run_versions.
-- Parameters: none.
WITH known_runs AS (
    SELECT DISTINCT run_uuid FROM run_versions
    UNION
    SELECT DISTINCT run_uuid FROM pod_intervals WHERE run_uuid IS NOT NULL
),

claims AS (
    SELECT
        transfer_id,
        regexp_extract(LOWER(REPLACE(app_id, '-', '')), '(?:^|[^0-9a-f])([0-9a-f]{32})(?:[^0-9a-f]|$)', 1)
            AS claimed_uuid
    FROM transfer_bursts
    WHERE app_id IS NOT NULL
),

stated AS (
    SELECT c.transfer_id, r.run_uuid
    FROM claims AS c
    INNER JOIN known_runs AS r ON c.claimed_uuid = r.run_uuid
)

SELECT
    b.transfer_id,
    make_timestamptz(b.start_us) AS start_at,
    make_timestamptz(b.end_us) AS end_at,
    b.provider,
    b.bucket,
    b.key,
    b.version_id,
    b.etag,
    b.operation,
    b.object_path || COALESCE('@' || b.version_id, '') AS object_id,
    r.resource_id,
    r.dataset_id,
    b.client_address,
    b.principal,
    b.user_agent,
    b.request_count,
    b.success_count,
    b.not_modified_count,
    b.denied_count,
    b.not_found_count,
    b.throttled_count,
    b.error_count,
    b.first_error,
    b.transferred_bytes,
    b.error_bytes,
    b.unlogged_bytes_count,
    b.object_size_bytes,
    b.is_complete,
    b.opened_before,
    m.cluster,
    m.namespace,
    m.pod_name,
    m.pod_uid,
    m.node,
    CASE WHEN m.match_kind = 'none' THEN s.run_uuid ELSE m.run_uuid END AS run_uuid,
    m.attempt,
    CASE WHEN m.match_kind = 'none' AND s.run_uuid IS NOT NULL THEN 'app_id' ELSE m.match_kind END
        AS match_kind,
    m.candidate_pod_uids,
    CAST(NULL AS VARCHAR) AS container,
    'none' AS container_kind,
    CAST(NULL AS VARCHAR) AS container_role,
    'unknown' AS stage,
    p.zone AS reader_zone,
    p.region AS reader_region,
    COALESCE(b.bucket_region, r.setting_region) AS bucket_region,
    b.endpoint,
    b.vpc_endpoint_id,
    b.duration_seconds,
    b.first_record_id
FROM transfer_bursts AS b
INNER JOIN transfer_resources AS r ON b.object_path = r.object_path
INNER JOIN match_output AS m ON b.transfer_id = m.item_id
LEFT JOIN transfer_places AS p ON m.cluster = p.cluster AND m.node = p.node
LEFT JOIN stated AS s ON b.transfer_id = s.transfer_id
