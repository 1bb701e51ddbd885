-- What the built day's readings of some series show, as the pass found it.
-- Grain: one series of one observer with a reading on the day.
-- Reads: counter_noted.
SELECT *
FROM counter_noted
WHERE reading_count > 0
