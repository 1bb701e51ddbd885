-- What is known of the coverage of the rows of one day.
-- Grain: cluster, run (null: pods of no run), source.
-- Reads: run_coverage_days (the day's).
SELECT
    cluster, run_uuid, source, expected_us, covered_us,
    empty_means = 'nothing_happened' AS is_whole
FROM run_coverage_days
