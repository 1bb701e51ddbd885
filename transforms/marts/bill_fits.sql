-- Which lines of the bill a charge may stand on: those that contradict it nowhere. What a line does
-- not state, it does not tell apart; an account or resource that the charge does not know may be
-- any.
-- Usage types have region codes in front in the bill; a price row may name a glob.
-- Grain: one charge and kind of line, with the resource and without.
-- Reads: bill_lines, bill_charges.
WITH kinds AS (
    SELECT DISTINCT
        provider, account_id, usage_type, from_region, to_region, resource_id, period_end_at,
        is_request
    FROM bill_lines
    WHERE line_item_type = 'usage'
)

SELECT
    c.charge_id,
    k.*,
    c.resource_id IS NULL AS lacks_resource,
    COALESCE(
        k.resource_id = c.resource_id
        OR ENDS_WITH(k.resource_id, ':' || c.resource_id)
        OR ENDS_WITH(k.resource_id, '/' || c.resource_id),
        FALSE
    ) AS is_of_resource
FROM bill_charges AS c
INNER JOIN kinds AS k
    ON c.provider = k.provider
    AND c.is_request = k.is_request
    AND (k.account_id IS NULL OR c.account_id IS NULL OR c.account_id = k.account_id)
    AND (k.from_region IS NULL OR c.from_region = k.from_region)
    AND (k.to_region IS NULL OR c.to_region = k.to_region)
    AND (
        k.usage_type IS NULL
        OR k.usage_type = c.usage_type
        OR ENDS_WITH(k.usage_type, '-' || c.usage_type)
        OR ENDS_WITH(k.usage_type, ' ' || c.usage_type)
        OR k.usage_type GLOB c.usage_type
    )
    AND (
        k.resource_id IS NULL
        OR c.resource_id IS NULL
        OR k.resource_id = c.resource_id
        OR ENDS_WITH(k.resource_id, ':' || c.resource_id)
        OR ENDS_WITH(k.resource_id, '/' || c.resource_id)
    )
