-- The repeated bytes of reads under each charge on their path, as price_of_path.sql takes them.
-- Grain: one fetch of the day, scope and charge.
-- Reads: repeat_measured, object_paths, path_prices.
SELECT
    ROW_NUMBER() OVER () AS item_id,
    m.repeat_number,
    p.is_certain,
    CAST(NULL AS BIGINT) AS amount,
    in_64_bits(m.min_repeat_bytes) AS min_amount,
    in_64_bits(m.max_repeat_bytes) AS max_amount,
    p.cheapest,
    p.best,
    p.dearest
FROM repeat_measured AS m
INNER JOIN object_paths AS o ON m.transfer_id = o.transfer_id
INNER JOIN path_prices AS p ON o.path_id = p.path_id
WHERE p.charge_kind <> 'request'
