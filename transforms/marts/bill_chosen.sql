-- The one line that a charge stands on: of those it fits the one that states most, the resource
-- before all else; then lines within the day, then the smallest id.
-- Grain: one charge that fits a line.
-- Reads: bill_fits, bill_billed.
SELECT f.charge_id, b.line_id
FROM bill_fits AS f
INNER JOIN bill_billed AS b
    ON b.line_item_type = 'usage'
    AND f.provider = b.provider
    AND f.account_id IS NOT DISTINCT FROM b.account_id
    AND f.usage_type IS NOT DISTINCT FROM b.usage_type
    AND f.from_region IS NOT DISTINCT FROM b.from_region
    AND f.to_region IS NOT DISTINCT FROM b.to_region
    AND f.period_end_at IS NOT DISTINCT FROM b.period_end_at
    AND (
        f.resource_id IS NOT DISTINCT FROM b.resource_id
        OR (f.lacks_resource AND b.resource_id IS NULL)
    )
-- A charge of no known resource is no resource's: it stands on the lines of all of them.
WHERE f.is_of_resource OR b.resource_id IS NULL
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY f.charge_id
    ORDER BY
        f.is_of_resource DESC,
        (f.usage_type IS NOT NULL)::INTEGER + (f.from_region IS NOT NULL)::INTEGER
        + (f.to_region IS NOT NULL)::INTEGER + (f.account_id IS NOT NULL)::INTEGER DESC,
        f.period_end_at NULLS FIRST,
        b.line_id
) = 1
