-- Readings of some series, by series and time.
-- Grain: one reading or mark of one file.
-- Reads: counter_readings.
-- Parameters: $first_series and $last_series.
SELECT series, at_us, value, stated_us
FROM counter_readings
WHERE series BETWEEN $first_series AND $last_series
ORDER BY series, at_us
