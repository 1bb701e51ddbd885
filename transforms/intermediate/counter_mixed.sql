-- Readings of the day that claim another temporality than their series has.
-- Grain: one series of one observer.
-- Reads: counter_samples, counter_series.
-- Parameters: $start_us and $end_us (the day).
SELECT n.series, COUNT(*) AS other_count
FROM counter_samples AS s
INNER JOIN counter_series AS n
    ON n.is_mixed
    AND s.series_id = n.series_id
    AND s.observer = n.observer
    AND s.temporality <> n.temporality
WHERE
    s.sample_kind IS NULL
    AND epoch_us(s.event_at) >= CAST($start_us AS BIGINT)
    AND epoch_us(s.event_at) < CAST($end_us AS BIGINT)
GROUP BY n.series
