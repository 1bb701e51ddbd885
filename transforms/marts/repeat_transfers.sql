-- Fetches that repeat an earlier one within a run, node, zone, region or the fleet.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_fetches, repeat_measured, repeat_remedies, repeat_avoidable,
--   repeat_history, runs_of_day.
-- Parameters: $date.
SELECT
    row_id([id_text(CAST($date AS DATE)), id_text(p.transfer_id), id_text(p.scope)])
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
    m.test_after,
    h.history_basis,
    r.cluster AS asked_cluster,
    r.run_uuid AS asked_run,
    r.object_id AS asked_resource,
    'connect' AS asked_operation
FROM repeat_measured AS p
INNER JOIN repeat_fetches AS r ON p.transfer_id = r.transfer_id
INNER JOIN repeat_history AS h ON r.start_date = h.start_date
LEFT JOIN repeat_remedies AS m ON p.transfer_id = m.transfer_id AND p.scope = m.scope
LEFT JOIN repeat_avoidable AS a ON p.transfer_id = a.transfer_id AND p.scope = a.scope
LEFT JOIN runs_of_day AS w ON r.run_uuid = w.run_uuid
