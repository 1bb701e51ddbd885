-- The bill's lines, summed by what they tell apart. Where charges do not know which of several
-- resources they passed (a NAT gateway), the lines of resources that no charge names are one.
-- Grain: the key columns of bill_reconciliation.
-- Reads: bill_lines, bill_fits.
WITH named AS (
    SELECT DISTINCT
        provider, account_id, usage_type, from_region, to_region, resource_id, period_end_at
    FROM bill_fits
    WHERE is_of_resource
),

unnamed AS (
    SELECT DISTINCT provider, account_id, usage_type, from_region, to_region, period_end_at
    FROM bill_fits
    WHERE lacks_resource
),

placed AS (
    SELECT
        l.* EXCLUDE (resource_id),
        CASE
            WHEN l.line_item_type = 'usage' AND u.provider IS NOT NULL AND n.provider IS NULL
                THEN NULL
            ELSE l.resource_id
        END AS resource_id
    FROM bill_lines AS l
    LEFT JOIN named AS n
        ON l.provider = n.provider
        AND l.account_id IS NOT DISTINCT FROM n.account_id
        AND l.usage_type IS NOT DISTINCT FROM n.usage_type
        AND l.from_region IS NOT DISTINCT FROM n.from_region
        AND l.to_region IS NOT DISTINCT FROM n.to_region
        AND l.resource_id IS NOT DISTINCT FROM n.resource_id
        AND l.period_end_at IS NOT DISTINCT FROM n.period_end_at
    LEFT JOIN unnamed AS u
        ON l.provider = u.provider
        AND l.account_id IS NOT DISTINCT FROM u.account_id
        AND l.usage_type IS NOT DISTINCT FROM u.usage_type
        AND l.from_region IS NOT DISTINCT FROM u.from_region
        AND l.to_region IS NOT DISTINCT FROM u.to_region
        AND l.period_end_at IS NOT DISTINCT FROM u.period_end_at
)

SELECT
    row_id([
        id_text(provider), id_text(account_id), id_text(usage_type), id_text(line_item_type),
        id_text(from_region), id_text(to_region), id_text(resource_id), id_time(period_end_at)
    ]) AS line_id,
    provider, account_id, usage_type, line_item_type, from_region, to_region, resource_id,
    period_end_at,
    BOOL_OR(is_request) AS is_request,
    BOOL_OR(is_first) AS is_billed,
    SUM(usage_bytes) FILTER (WHERE is_first) AS bytes,
    SUM(usage_requests) FILTER (WHERE is_first) AS request_count,
    CASE
        WHEN COUNT(*) FILTER (WHERE is_first) = COUNT(cost_usd) FILTER (WHERE is_first)
            THEN SUM(cost_usd) FILTER (WHERE is_first)
    END AS usd,
    COUNT(*) FILTER (WHERE is_first) AS line_count,
    BOOL_AND(is_final) AS is_final
FROM placed
GROUP BY
    provider, account_id, usage_type, line_item_type, from_region, to_region, resource_id,
    period_end_at
