-- What one cache size at one placement would have answered.
-- A cache fetches whole objects that it keeps, and passes through what it does not keep.
-- Grain: one row.
-- Reads: cache_reads, cache_hits (number, is_hit, is_kept), cache_prices.
WITH counted AS (
    SELECT r.*, h.is_hit, h.is_kept, p.min_usd, p.max_usd
    FROM cache_reads AS r
    LEFT JOIN cache_hits AS h ON r.rowid = h.number
    LEFT JOIN cache_prices AS p ON r.transfer_id = p.transfer_id
    WHERE r.is_counted
)

SELECT
    COUNT(*) AS read_count,
    COUNT(*) FILTER (WHERE is_hit) AS hit_count,
    COUNT(*) FILTER (WHERE is_hit IS NULL) AS unplaced_count,
    COUNT(*) FILTER (WHERE object_size_bytes IS NULL) AS unsized_count,
    in_64_bits(COALESCE(SUM(read_bytes), 0)) AS read_bytes,
    in_64_bits(COALESCE(SUM(read_bytes) FILTER (WHERE is_hit), 0)) AS hit_bytes,
    in_64_bits(COALESCE(
        SUM(
            CASE WHEN is_kept THEN object_size_bytes ELSE read_bytes END
        ) FILTER (WHERE NOT COALESCE(is_hit, FALSE)),
        0
    )) AS fetched_bytes,
    CAST(COALESCE(SUM(duration_us) FILTER (WHERE is_hit), 0) AS BIGINT) AS hit_us,
    CASE
        WHEN COUNT(*) FILTER (WHERE is_hit AND min_usd IS NULL) = 0
            THEN COALESCE(SUM(min_usd) FILTER (WHERE is_hit), 0)
    END AS min_saved_usd,
    CASE
        WHEN COUNT(*) FILTER (WHERE is_hit AND max_usd IS NULL) = 0
            THEN COALESCE(SUM(max_usd) FILTER (WHERE is_hit), 0)
    END AS max_saved_usd,
    COUNT(*) FILTER (WHERE is_hit AND max_usd IS NULL) AS unpriced_count
FROM counted
