-- Transfers with resource, reader and regions.
-- Grain: one transfer that has a request on the day.
-- Reads: transfer_bursts, transfer_resources, transfer_buckets, node_places, cluster_regions,
--   container_output.
-- Parameters: $end_us (end of the day).
WITH agreed AS (
    SELECT c.cluster, c.region
    FROM cluster_regions AS c
    WHERE NOT EXISTS (
        SELECT 1 FROM node_places AS n WHERE n.cluster = c.cluster AND n.region <> c.region
    )
)

SELECT
    row_id([
        id_text(b.provider), id_text(b.bucket), id_text(b.key), id_text(b.version_id),
        id_text(b.client_address), id_text(b.principal), id_text(b.user_agent),
        id_text(b.operation), id_text(b.first_record_id)
    ]) AS transfer_id,
    make_timestamptz(b.began_us) AS start_at,
    -- A row says nothing later than its day.
    make_timestamptz(LEAST(b.ended_us, CAST($end_us AS BIGINT))) AS end_at,
    b.provider,
    b.bucket,
    b.key,
    b.version_id,
    b.etag,
    b.operation,
    CASE WHEN b.version_id IS NULL THEN b.path ELSE b.path || '@' || b.version_id END
        AS object_id,
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
    -- Sizes that a client could forge must not stop the day.
    CAST(LEAST(b.transferred_bytes, 9223372036854775807) AS BIGINT) AS transferred_bytes,
    CAST(LEAST(b.error_bytes, 9223372036854775807) AS BIGINT) AS error_bytes,
    b.unlogged_bytes_count,
    b.object_size_bytes,
    b.is_complete,
    b.opened_before,
    b.cluster,
    b.namespace,
    b.pod_name,
    b.pod_uid,
    b.node,
    b.run_uuid,
    b.attempt,
    b.match_kind,
    b.candidate_pod_uids,
    c.container,
    COALESCE(c.container_kind, 'none') AS container_kind,
    c.container_role,
    'unknown' AS stage,
    n.zone AS reader_zone,
    COALESCE(n.region, a.region) AS reader_region,
    COALESCE(b.bucket_region, k.region) AS bucket_region,
    b.endpoint,
    b.vpc_endpoint_id,
    b.duration_seconds,
    b.first_record_id
FROM transfer_bursts AS b
INNER JOIN transfer_resources AS r
    ON b.path = r.path AND b.run_uuid IS NOT DISTINCT FROM r.run_uuid
INNER JOIN transfer_buckets AS k ON b.provider = k.provider AND b.bucket = k.bucket
LEFT JOIN node_places AS n ON b.cluster = n.cluster AND b.node = n.node
LEFT JOIN agreed AS a ON b.cluster = a.cluster
LEFT JOIN container_output AS c
    ON b.pod_uid = c.item_id.pod_uid AND b.began_us = c.item_id.began_us
