-- What each charge comes to. An amount is null where its bytes or a candidate's price are: the two
-- ends of a range go together (definitions.md 40).
-- Grain: the key columns of transfer_costs.
-- Reads: cost_sums, cost_amounts, runs_of_day.
SELECT
    s.item_id AS transfer_cost_id,
    s.cluster,
    s.run_uuid,
    w.project,
    s.resource_id,
    s.provider,
    s.distance,
    s.gateway,
    s.charge_kind,
    s.from_region,
    s.to_region,
    s.usage_type,
    s.account_id,
    s.billed_resource_id,
    s.candidate_paths,
    s.measured_by,
    s.bytes,
    s.min_bytes,
    s.max_bytes,
    s.request_count,
    a.min_usd,
    a.usd,
    a.max_usd,
    CASE WHEN s.is_certain THEN s.price_id END AS price_id,
    CASE
        WHEN s.missing_prices IS NOT NULL THEN 'missing'
        WHEN s.is_certain AND s.best IS NOT NULL THEN 'listed'
        ELSE 'candidates'
    END AS price_kind,
    s.missing_prices,
    s.is_price_verified,
    s.cluster AS asked_cluster,
    s.run_uuid AS asked_run,
    s.resource_id AS asked_resource,
    CASE s.measured_by
        WHEN 'flow_record' THEN 'volume_records'
        WHEN 'sampled_flow_record' THEN 'volume_records'
        WHEN 'interface_counter' THEN 'counter_samples'
        WHEN 'storage_log' THEN 'read'
        WHEN 'none' THEN 'connect'
    END AS asked_operation
FROM cost_sums AS s
INNER JOIN cost_amounts AS a ON s.item_id = a.item_id
LEFT JOIN runs_of_day AS w ON s.run_uuid = w.run_uuid
