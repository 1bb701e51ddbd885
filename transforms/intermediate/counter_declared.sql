-- What is declared of each series, for the pass over its readings.
-- Grain: one series of one observer.
-- Reads: counter_series.
SELECT
    temporality = 'delta' AS is_delta,
    COALESCE(counter_bits = 32, FALSE) AS is_narrow,
    COALESCE(link_bits_per_second, 0) AS link,
    COALESCE(expires_after_seconds, 0) * 1000000 AS expires,
    observer_count > 1 AS is_compared,
    reading_count
FROM counter_series
ORDER BY series
