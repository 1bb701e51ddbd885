-- Transfers with resource, reader and regions.
-- Grain: one transfer that has a request on the day.
-- Reads: transfer_totals, transfer_groups, transfer_resources, transfer_buckets, node_places,
--   stage_output,
--   agreed_regions.
-- Parameters: $end_us (end of the day).
SELECT
    row_id([
        id_text(g.provider), id_text(g.bucket), id_text(g.key), id_text(g.version_id),
        id_text(g.client_address), id_text(g.principal), id_text(g.user_agent),
        id_text(g.operation), id_text(t.first_record_id)
    ]) AS transfer_id,
    make_timestamptz(t.began_us) AS start_at,
    -- A row says nothing later than its day.
    make_timestamptz(LEAST(t.ended_us, CAST($end_us AS BIGINT))) AS end_at,
    g.provider,
    g.bucket,
    g.key,
    g.version_id,
    t.etag,
    g.operation,
    CASE WHEN g.version_id IS NULL THEN g.path ELSE g.path || '@' || g.version_id END
        AS object_id,
    r.resource_id,
    r.dataset_id,
    r.dataset_basis,
    g.client_address,
    g.principal,
    g.user_agent,
    t.request_count,
    t.success_count,
    t.not_modified_count,
    t.denied_count,
    t.not_found_count,
    t.throttled_count,
    t.error_count,
    t.first_error,
    -- Sizes that a client could forge must not stop the day.
    in_64_bits(COALESCE(t.transferred_bytes, 0)) AS transferred_bytes,
    in_64_bits(COALESCE(t.error_bytes, 0)) AS error_bytes,
    t.unlogged_bytes_count,
    LIST_TRANSFORM(
        t.changed_us,
        LAMBDA changed_us: make_timestamptz(LEAST(changed_us, CAST($end_us AS BIGINT)))
    ) AS change_times,
    t.object_size_bytes,
    t.is_complete,
    t.read_ranges,
    t.opened_before,
    t.cluster,
    t.namespace,
    t.pod_name,
    t.pod_uid,
    t.node,
    t.run_uuid,
    t.attempt,
    t.match_kind,
    t.candidate_pod_uids,
    CASE WHEN t.container_kind = 'only_running' THEN t.container END AS container,
    t.container_kind,
    CASE WHEN t.container_kind = 'only_running' THEN t.container_role END AS container_role,
    COALESCE(s.stage, 'unknown') AS stage,
    n.zone AS reader_zone,
    COALESCE(n.region, a.region) AS reader_region,
    COALESCE(t.bucket_region, k.region) AS bucket_region,
    t.endpoint,
    t.vpc_endpoint_id,
    t.duration_seconds,
    t.first_record_id
FROM transfer_totals AS t
INNER JOIN transfer_groups AS g ON t.group_number = g.group_number
-- Each has one. Said so that the engine does not join these two first: an object has as many
-- resources as runs that read it, times its clients.
LEFT JOIN transfer_resources AS r
    ON g.bucket_id = r.bucket_id
    AND g.path = r.path
    AND t.run_uuid IS NOT DISTINCT FROM r.run_uuid
LEFT JOIN transfer_buckets AS k ON g.bucket_id = k.bucket_id
LEFT JOIN stage_output AS s
    ON t.group_number = s.item_id.group_number AND t.first_record_id = s.item_id.record_id
LEFT JOIN node_places AS n ON t.cluster = n.cluster AND t.node = n.node
LEFT JOIN agreed_regions AS a ON t.cluster = a.cluster
