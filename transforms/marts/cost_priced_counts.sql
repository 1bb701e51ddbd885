-- The counts of each charge as price_of_path.sql takes them.
-- Grain: one charge.
-- Reads: cost_sums.
SELECT
    item_id,
    is_certain,
    CASE WHEN charge_kind = 'request' THEN request_count ELSE bytes END AS amount,
    CASE WHEN charge_kind = 'request' THEN request_count ELSE min_bytes END AS min_amount,
    CASE WHEN charge_kind = 'request' THEN request_count ELSE max_bytes END AS max_amount,
    cheapest, best, dearest
FROM cost_sums
