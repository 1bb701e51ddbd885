-- How far the sources that show a step observed it: flows what a run contacted, logs of buckets
-- whether its outputs are there.
-- Grain: one run and step that such a source shows.
-- Reads: run_coverage, run_outputs.
-- Parameters: $date.
WITH outputs AS (
    SELECT
        run_uuid,
        CAST(SUM(expected_us) AS BIGINT) AS expected_us,
        CAST(SUM(covered_us) AS BIGINT) AS covered_us,
        CASE
            WHEN COALESCE(SUM(covered_us), 0) = 0 THEN 'not_observed'
            WHEN BOOL_AND(empty_means = 'nothing_happened') THEN 'nothing_happened'
            ELSE 'partly_observed'
        END AS empty_means
    FROM run_outputs
    WHERE date = CAST($date AS DATE)
    GROUP BY run_uuid
)

SELECT run_uuid, 'data_and_accelerator' AS step, expected_us, covered_us, empty_means
FROM run_coverage
WHERE date = CAST($date AS DATE) AND source = 'flows'
UNION ALL
SELECT o.run_uuid, s.step, o.expected_us, o.covered_us, o.empty_means
FROM outputs AS o
CROSS JOIN (VALUES ('outputs_retrievable'), ('cleaned_up')) AS s (step)
