-- The runs whose pods lived on the day; null for pods of no run.
-- Grain: one run.
-- Reads: pod_intervals (the day's).
SELECT DISTINCT run_uuid
FROM pod_intervals
