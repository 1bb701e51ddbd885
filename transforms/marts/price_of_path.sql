-- What counts of bytes or requests cost at least, at best knowledge and at most: price times count
-- first, then divided by the unit and rounded half to even, once. Where a charge is not certain,
-- the least is nothing and the best is not known. An amount of 10^9 USD or more is null.
-- Reusable: any mart that has counts and prices of path_prices.sql (path_prices.py) may run it.
-- Grain: as priced_counts.
-- Reads: priced_counts (item_id; is_certain; bytes or requests as `amount`, `min_amount` and
--   `max_amount`, BIGINT, null where not known; `cheapest`, `best` and `dearest` price, null where
--   there is none).
WITH counted AS (
    SELECT
        item_id,
        nano_usd(CASE WHEN is_certain THEN min_amount ELSE 0 END, cheapest) AS min_nano,
        nano_usd(CASE WHEN is_certain THEN amount END, best) AS nano,
        nano_usd(max_amount, dearest) AS max_nano
    FROM priced_counts
)

SELECT
    item_id,
    usd_of_nano(min_nano) AS min_usd,
    usd_of_nano(nano) AS usd,
    usd_of_nano(max_nano) AS max_usd
FROM counted
