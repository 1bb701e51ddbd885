-- What not fetching a read again within a place would have saved, at list prices.
-- Grain: one transfer that repeats an earlier one in the scope.
-- Reads: repeat_transfers.
-- Parameters: $placement (the scope), $first, $last (days, inclusive).
SELECT
    transfer_id,
    CASE WHEN COUNT(min_avoidable_usd) = COUNT(*) THEN SUM(min_avoidable_usd) END AS min_usd,
    CASE WHEN COUNT(max_avoidable_usd) = COUNT(*) THEN SUM(max_avoidable_usd) END AS max_usd
FROM repeat_transfers
WHERE
    scope = CAST($placement AS VARCHAR)
    AND date BETWEEN CAST($first AS DATE) AND CAST($last AS DATE)
GROUP BY transfer_id
