-- The six acceptance steps of each run.
-- Grain: one run active on the day and one step; dense.
-- Reads: active_runs, check_submitted, check_seen, check_outputs, check_interruption,
--   check_failure, check_cleanup, check_coverage.
WITH steps AS (
    SELECT 1 AS step_number, 'submitted' AS step, * FROM check_submitted
    UNION ALL
    SELECT 2 AS step_number, 'data_and_accelerator' AS step, * FROM check_seen
    UNION ALL
    SELECT 3 AS step_number, 'outputs_retrievable' AS step, * FROM check_outputs
    UNION ALL
    SELECT 4 AS step_number, 'interruption_handled' AS step, * FROM check_interruption
    UNION ALL
    SELECT 5 AS step_number, 'failure_visible' AS step, * FROM check_failure
    UNION ALL
    SELECT 6 AS step_number, 'cleaned_up' AS step, * FROM check_cleanup
)

SELECT
    row_id([id_text(s.run_uuid), id_text(s.step)]) AS run_check_id,
    s.run_uuid,
    CAST(s.step_number AS BIGINT) AS step_number,
    s.step,
    s.result,
    s.sentence,
    r.cluster,
    r.project,
    s.sources,
    LIST_SORT(LIST_DISTINCT(s.evidence_ids))[1:10] AS evidence_ids,
    v.expected_us,
    v.covered_us,
    CASE
        WHEN s.step IN ('data_and_accelerator', 'outputs_retrievable', 'cleaned_up')
            THEN COALESCE(v.empty_means, 'not_observed')
    END AS empty_means,
    r.is_final
FROM steps AS s
INNER JOIN active_runs AS r ON s.run_uuid = r.run_uuid
LEFT JOIN check_coverage AS v ON s.run_uuid = v.run_uuid AND s.step = v.step
