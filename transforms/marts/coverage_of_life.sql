-- What is known of the coverage of the rows of runs up to the day.
-- Grain: run, source; cluster null.
-- Reads: run_coverage.
-- Parameters: $date.
SELECT
    CAST(NULL AS VARCHAR) AS cluster, run_uuid, source, expected_us, covered_us,
    empty_means = 'nothing_happened' AS is_whole
FROM run_coverage
WHERE date = CAST($date AS DATE)
