-- What counts of bytes or requests cost at least, at best knowledge and at most: price times count
-- first, then divided by the unit and rounded half to even, once. Where a charge is not certain,
-- the least is nothing and the best is not known. An amount of 10^9 USD or more is null.
-- Reusable: any mart that has counts and prices of path_prices.sql (path_prices.py) may run it.
-- Grain: as priced_counts.
-- Reads: priced_counts (item_id; is_certain; bytes or requests as `amount`, `min_amount` and
--   `max_amount`, BIGINT, null where not known; `cheapest`, `best` and `dearest` price, null where
--   there is none).
WITH parted AS (
    SELECT
        item_id,
        UNNEST([
            STRUCT_PACK(
                part := 'min', price := cheapest,
                amount := CASE WHEN is_certain THEN min_amount ELSE 0 END
            ),
            STRUCT_PACK(
                part := 'best', price := best, amount := CASE WHEN is_certain THEN amount END
            ),
            STRUCT_PACK(part := 'max', price := dearest, amount := max_amount)
        ]) AS p
    FROM priced_counts
),

divided AS (
    SELECT
        item_id,
        p.part AS part,
        CAST(p.amount AS HUGEINT) * p.price.nano // p.price.units AS whole,
        CAST(p.amount AS HUGEINT) * p.price.nano % p.price.units AS rest,
        p.price.units AS units
    FROM parted
),

rounded AS (
    SELECT
        item_id,
        part,
        whole + CASE
            WHEN CAST(rest AS HUGEINT) * 2 > units THEN 1
            WHEN CAST(rest AS HUGEINT) * 2 = units THEN whole % 2
            ELSE 0
        END AS nano
    FROM divided
),

money AS (
    SELECT
        item_id,
        part,
        CASE
            WHEN nano < 1000000000000000000
                THEN CAST(
                    CAST(nano AS DECIMAL(18, 0)) * CAST(0.000000001 AS DECIMAL(10, 9))
                    AS DECIMAL(18, 9)
                )
        END AS usd
    FROM rounded
)

SELECT
    item_id,
    MAX(usd) FILTER (WHERE part = 'min') AS min_usd,
    MAX(usd) FILTER (WHERE part = 'best') AS usd,
    MAX(usd) FILTER (WHERE part = 'max') AS max_usd
FROM money
GROUP BY item_id
