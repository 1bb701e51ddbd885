-- What is billed beside what is explained.
-- Grain: the key columns of bill_reconciliation.
-- Reads: bill_billed, bill_chosen, bill_charges.
WITH placed AS (
    SELECT
        COALESCE(x.line_id, 'charge ' || row_id([
            id_text(c.provider), id_text(c.account_id), id_text(c.usage_type),
            id_text(c.from_region), id_text(c.to_region), id_text(c.resource_id)
        ])) AS line_id,
        c.*
    FROM bill_charges AS c
    LEFT JOIN bill_chosen AS x ON c.charge_id = x.charge_id
),

explained AS (
    SELECT
        line_id,
        MIN(provider) AS provider,
        MIN(account_id) AS account_id,
        MIN(usage_type) AS usage_type,
        MIN(from_region) AS from_region,
        MIN(to_region) AS to_region,
        MIN(resource_id) AS resource_id,
        CASE WHEN COUNT(bytes) = COUNT(*) FILTER (WHERE NOT is_request) THEN SUM(bytes) END
            AS bytes,
        SUM(request_count) AS request_count,
        CASE WHEN COUNT(min_usd) = COUNT(*) THEN SUM(min_usd) END AS min_usd,
        CASE WHEN COUNT(usd) = COUNT(*) THEN SUM(usd) END AS usd,
        CASE WHEN COUNT(max_usd) = COUNT(*) THEN SUM(max_usd) END AS max_usd,
        SUM(row_count) AS row_count,
        LIST_SORT(FLATTEN(LIST(transfer_cost_ids)))[:100] AS transfer_cost_ids
    FROM placed
    GROUP BY line_id
)

SELECT
    COALESCE(b.line_id, e.line_id) AS item_id,
    b.line_id IS NOT NULL AS has_line,
    e.line_id IS NOT NULL AS is_explained,
    CASE WHEN b.line_id IS NULL THEN e.provider ELSE b.provider END AS provider,
    CASE WHEN b.line_id IS NULL THEN e.account_id ELSE b.account_id END AS account_id,
    CASE WHEN b.line_id IS NULL THEN e.usage_type ELSE b.usage_type END AS usage_type,
    b.line_item_type,
    CASE WHEN b.line_id IS NULL THEN e.from_region ELSE b.from_region END AS from_region,
    CASE WHEN b.line_id IS NULL THEN e.to_region ELSE b.to_region END AS to_region,
    CASE WHEN b.line_id IS NULL THEN e.resource_id ELSE b.resource_id END AS resource_id,
    b.period_end_at,
    b.bytes AS billed_bytes,
    b.request_count AS billed_requests,
    b.usd AS billed_usd,
    COALESCE(b.is_billed, FALSE) AS is_billed,
    b.is_request,
    e.bytes AS explained_bytes,
    e.request_count AS explained_requests,
    e.min_usd,
    e.usd,
    e.max_usd,
    COALESCE(b.line_count, 0) AS line_count,
    COALESCE(e.row_count, 0) AS row_count,
    e.transfer_cost_ids,
    b.is_final
FROM bill_billed AS b
FULL JOIN explained AS e ON b.line_id = e.line_id
