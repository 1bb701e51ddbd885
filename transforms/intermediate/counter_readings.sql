-- Readings with their series' number, and marks of when it was no longer shown.
-- Grain: one reading or mark of one file.
-- Reads: counter_samples, counter_series.
-- Parameters: $read_from_us and $read_until_us (what is read).
SELECT
    n.series,
    epoch_us(s.event_at) AS at_us,
    -- Less than any reading: a mark.
    CASE WHEN s.sample_kind IS NULL THEN s.value ELSE -1 END AS value,
    -- The least number stands for none.
    COALESCE(epoch_us(s.counter_start_at), -9223372036854775807 - 1) AS stated_us
FROM counter_samples AS s
INNER JOIN counter_series AS n
    ON s.series_id = n.series_id
    AND s.observer = n.observer
WHERE
    (s.sample_kind IS NULL OR s.sample_kind = 'stale')
    AND (NOT n.is_mixed OR s.temporality = n.temporality)
    AND epoch_us(s.event_at) >= CAST($read_from_us AS BIGINT)
    AND epoch_us(s.event_at) < CAST($read_until_us AS BIGINT)
