-- Charges of the day, summed to what a line of a bill can tell. The bill counts bytes between zones
-- where they leave and where they arrive: twice.
-- Grain: provider, account, usage type, regions, resource, by bytes or by requests.
-- Reads: transfer_costs.
-- Parameters: $date.
WITH today AS (
    SELECT
        *,
        charge_kind = 'request' AS is_request,
        CASE
            WHEN provider = 'aws' AND usage_type = 'DataTransfer-Regional-Bytes' THEN 2 ELSE 1
        END AS times
    FROM transfer_costs
    WHERE date = CAST($date AS DATE)
)

SELECT
    row_id([
        id_text(provider), id_text(account_id), id_text(usage_type), id_text(from_region),
        id_text(to_region), id_text(billed_resource_id), id_text(is_request)
    ]) AS charge_id,
    provider, account_id, usage_type, from_region, to_region,
    billed_resource_id AS resource_id,
    is_request,
    CASE
        WHEN NOT is_request AND COUNT(bytes) = COUNT(*) THEN SUM(CAST(bytes AS HUGEINT) * times)
    END AS bytes,
    SUM(request_count) AS request_count,
    CASE WHEN COUNT(min_usd) = COUNT(*) THEN SUM(min_usd) END AS min_usd,
    CASE WHEN COUNT(usd) = COUNT(*) THEN SUM(usd) END AS usd,
    CASE WHEN COUNT(max_usd) = COUNT(*) THEN SUM(max_usd) END AS max_usd,
    COUNT(*) AS row_count,
    LIST_SORT(LIST(transfer_cost_id))[:100] AS transfer_cost_ids
FROM today
GROUP BY
    provider, account_id, usage_type, from_region, to_region, billed_resource_id, is_request
