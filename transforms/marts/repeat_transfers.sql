-- Fetches that repeat an earlier one within a run, node, zone, region or the fleet.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_fetches, repeat_measured, repeat_remedies, repeat_avoidable,
--   repeat_history, runs_of_day.
SELECT
    row_id([id_text(p.built_date), id_text(p.transfer_id), id_text(p.scope)])
        AS repeat_transfer_id,
    p.transfer_id,
    p.scope,
    CASE
        WHEN p.scope IN ('run', 'zone', 'region') THEN p.scope_key
        WHEN p.scope = 'node' AND p.scope_key IS NOT NULL THEN r.node
    END AS scope_id,
    r.start_at,
    COALESCE(make_timestamptz(p.earlier.us), r.start_at) AS previous_at,
    p.earlier.id AS previous_transfer_id,
    p.earlier.run AS previous_run_uuid,
    r.cluster,
    r.node,
    r.run_uuid,
    r.attempt,
    w.project,
    r.resource_kind,
    r.object_id,
    r.resource_id,
    r.dataset_id,
    r.dataset_basis,
    r.grade,
    r.size_bytes AS object_size_bytes,
    in_64_bits(r.transferred_bytes) AS transferred_bytes,
    in_64_bits(r.min_bytes) AS min_transferred_bytes,
    in_64_bits(r.max_bytes) AS max_transferred_bytes,
    in_64_bits(p.min_repeat_bytes) AS min_repeat_bytes,
    in_64_bits(p.max_repeat_bytes) AS max_repeat_bytes,
    r.measured_by,
    -- An amount that the column does not hold is null, as in transfer_costs.
    TRY_CAST(a.min_usd AS DECIMAL(18, 9)) AS min_avoidable_usd,
    TRY_CAST(a.max_usd AS DECIMAL(18, 9)) AS max_avoidable_usd,
    r.reader_zone,
    r.reader_region,
    r.bucket_region,
    r.match_kind,
    m.remedy,
    m.remedy_evidence,
    CASE m.remedy
        WHEN 'pin_revision' THEN
            'Cold worker: starts with the upstream host blocked once the cache is filled, and with '
            || 'the cache empty while it is reachable. Updated model: a new revision is fetched '
            || 'after the pin is raised, and not before.'
        WHEN 'image_pre_pull' THEN
            'Cold worker: a new node has the image before its first pod starts. Updated model: an '
            || 'image with another digest is pulled, and the old one is not run.'
        WHEN 'image_mirror' THEN
            'Cold worker: a new node pulls from a peer or the mirror, and from the registry when '
            || 'that is gone. Updated model: a moved tag is resolved at the registry, not at a peer.'
        WHEN 'node_cache' THEN
            'Cold worker: with an empty cache the object is read once from the bucket. Updated '
            || 'model: after a write under the same key the next read has the new ETag or version.'
        WHEN 'zone_cache' THEN
            'Cold worker: a node without a cache of its own reads from the zone, and from the '
            || 'bucket when the zone''s cache is gone. Updated model: after a write under the same '
            || 'key every node of the zone reads the new ETag or version.'
        WHEN 'move_job' THEN
            'Cold worker: starts in the bucket''s region and finds accelerator, image and other '
            || 'data there. Updated model: what it writes is read where it is needed.'
        WHEN 'bucket_replica' THEN
            'Cold worker: reads the replica, and the original where the replica lags. Updated '
            || 'model: a write has reached the replica before a run is told of it.'
        WHEN 'gateway_endpoint' THEN
            'Cold worker: a node of every subnet reaches the bucket with the address translation '
            || 'taken away, and the log names the endpoint. Updated model: writes pass the endpoint '
            || 'as well.'
    END AS test_after,
    h.history_basis,
    r.cluster AS asked_cluster,
    r.run_uuid AS asked_run,
    r.object_id AS asked_resource,
    'connect' AS asked_operation
FROM repeat_measured AS p
INNER JOIN repeat_fetches AS r ON p.transfer_id = r.transfer_id
INNER JOIN repeat_history AS h ON r.start_date = h.start_date
LEFT JOIN repeat_remedies AS m ON p.repeat_number = m.repeat_number
LEFT JOIN repeat_avoidable AS a ON p.repeat_number = a.repeat_number
LEFT JOIN runs_of_day AS w ON r.run_uuid = w.run_uuid
