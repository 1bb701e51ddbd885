-- Contributions summed to charges, so that each amount is rounded once.
-- Sizes that a client could forge must not stop the day: sums stay within 64 bits.
-- Where bytes may not have passed a gateway, that they did is possible, not certain.
-- Grain: the key columns of transfer_costs.
-- Reads: cost_counts, path_prices, paths.
-- Parameters: $date.
WITH priced AS (
    SELECT
        c.* EXCLUDE (bytes, min_bytes),
        CASE WHEN a.is_certain THEN c.bytes END AS bytes,
        CASE WHEN c.min_bytes IS NULL OR a.is_certain THEN c.min_bytes ELSE 0 END AS min_bytes,
        p.distance,
        p.gateway,
        a.is_certain, a.candidate_paths, a.provider, a.from_region, a.to_region, a.usage_type,
        a.cheapest, a.best, a.dearest, a.price_id, a.missing_prices, a.is_price_verified
    FROM cost_counts AS c
    INNER JOIN paths AS p ON c.path_id = p.path_id
    INNER JOIN path_prices AS a ON c.path_id = a.path_id AND c.charge_kind = a.charge_kind
)

SELECT
    row_id([
        id_text(CAST($date AS DATE)), id_text(cluster), id_text(run_uuid), id_text(resource_id),
        id_text(provider), id_text(distance), id_text(gateway), id_text(charge_kind),
        id_text(from_region), id_text(to_region), id_text(usage_type), id_text(account_id),
        id_text(billed_resource_id), id_text(candidate_paths), id_text(measured_by)
    ]) AS item_id,
    cluster, run_uuid, resource_id, provider, distance, gateway, charge_kind, from_region,
    to_region, usage_type, account_id, billed_resource_id, candidate_paths, measured_by,
    CASE WHEN COUNT(bytes) = COUNT(*) THEN in_64_bits(SUM(bytes)) END AS bytes,
    in_64_bits(SUM(min_bytes)) AS min_bytes,
    CASE WHEN COUNT(max_bytes) = COUNT(*) THEN in_64_bits(SUM(max_bytes)) END AS max_bytes,
    CAST(SUM(request_count) AS BIGINT) AS request_count,
    BOOL_AND(is_certain) AS is_certain,
    CASE WHEN COUNT(cheapest) = COUNT(*) THEN MIN(cheapest) END AS cheapest,
    CASE WHEN COUNT(best) = COUNT(*) AND MIN(best) = MAX(best) THEN MIN(best) END AS best,
    CASE WHEN COUNT(dearest) = COUNT(*) THEN MAX(dearest) END AS dearest,
    CASE WHEN COUNT(price_id) = COUNT(*) AND MIN(price_id) = MAX(price_id) THEN MIN(price_id) END
        AS price_id,
    -- Paths of one charge may lack different prices.
    LIST_SORT(
        LIST_DISTINCT(FLATTEN(LIST(missing_prices) FILTER (WHERE missing_prices IS NOT NULL)))
    ) AS missing_prices,
    BOOL_AND(is_price_verified) AS is_price_verified
FROM priced
GROUP BY
    cluster, run_uuid, resource_id, provider, distance, gateway, charge_kind, from_region,
    to_region, usage_type, account_id, billed_resource_id, candidate_paths, measured_by
