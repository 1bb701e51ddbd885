-- Growth of some series between adjacent readings, as the pass found it.
-- Grain: one interval of one series of one observer that meets the day.
-- Reads: counter_grown.
-- Numbers only, as a day has as many rows as readings: `basis` is that of counter_pass.py.
SELECT series, from_us, until_us, bytes, basis, is_gap
FROM counter_grown
