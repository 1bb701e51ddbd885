-- runs: what exports said of one run up to the day that its row covers.
-- Grain: one staged version of the run.
-- Reads: run_versions.
-- Parameters: $run_uuid, $date.
SELECT
    v.export_file_id AS export_file_id,
    v.record_id AS record_id,
    v.record_index AS record_index,
    v.observed_at AS observed_at
FROM run_versions AS v
WHERE v.run_uuid = $run_uuid AND CAST(v.observed_at AS DATE) <= $date
ORDER BY v.observed_at, v.record_id
