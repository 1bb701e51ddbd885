-- From when to when requests are looked at; a table, so that they may be a view.
-- Grain: one row.
-- Reads: nothing.
-- Parameters: $from_us (start of the look-back), $end_us (end of the day).
SELECT CAST($from_us AS BIGINT) AS from_us, CAST($end_us AS BIGINT) AS end_us
