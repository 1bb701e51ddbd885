-- What is explained, to be priced at the rate of its line.
-- Grain: one row of bill_joined whose line has a rate.
-- Reads: bill_joined.
WITH counted AS (
    SELECT
        item_id,
        CASE WHEN is_request THEN billed_requests ELSE billed_bytes END AS billed,
        CAST(
            CAST(billed_usd AS DECIMAL(28, 9)) * CAST(1000000000 AS DECIMAL(10, 0)) AS HUGEINT
        ) AS nano,
        CAST(CASE WHEN is_request THEN explained_requests ELSE explained_bytes END AS HUGEINT)
            AS explained
    FROM bill_joined
    WHERE is_billed AND is_explained
)

SELECT
    item_id,
    TRUE AS is_certain,
    CAST(explained AS BIGINT) AS amount,
    CAST(explained AS BIGINT) AS min_amount,
    CAST(explained AS BIGINT) AS max_amount,
    STRUCT_PACK(nano := nano, units := CAST(billed AS HUGEINT)) AS cheapest,
    STRUCT_PACK(nano := nano, units := CAST(billed AS HUGEINT)) AS best,
    STRUCT_PACK(nano := nano, units := CAST(billed AS HUGEINT)) AS dearest
FROM counted
WHERE
    billed > 0
    AND nano >= 0
    AND explained <= 9223372036854775807
