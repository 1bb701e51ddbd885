-- How far what is able to show a row observed its run: a source alone; of a named host the flows
-- and the look-ups, of which the lesser counts, and which both must have seen all; of an address
-- flows or flow records, of which the greater counts (definitions.md 33).
-- Grain: cluster, run, `asked_source`.
-- Reads: coverage_facts.
WITH paired AS (
    SELECT
        cluster, run_uuid,
        MAX(expected_us) AS expected_us,
        MIN(covered_us) FILTER (WHERE source IN ('flows', 'dns_lookups')) AS least_us,
        COUNT(*) FILTER (WHERE source IN ('flows', 'dns_lookups') AND is_whole) = 2 AS are_whole,
        MAX(covered_us) FILTER (WHERE source IN ('flows', 'volume_records')) AS most_us,
        BOOL_OR(is_whole) FILTER (WHERE source IN ('flows', 'volume_records')) AS is_one_whole
    FROM coverage_facts
    WHERE source IN ('flows', 'dns_lookups', 'volume_records')
    GROUP BY cluster, run_uuid
),

judged AS (
    SELECT cluster, run_uuid, source AS asked_source, expected_us, covered_us, is_whole
    FROM coverage_facts
    UNION ALL
    SELECT
        cluster, run_uuid, 'flows and dns_lookups' AS asked_source, expected_us,
        least_us AS covered_us, are_whole AS is_whole
    FROM paired
    WHERE least_us IS NOT NULL
    UNION ALL
    SELECT
        cluster, run_uuid, 'flows or volume_records' AS asked_source, expected_us,
        most_us AS covered_us, is_one_whole AS is_whole
    FROM paired
    WHERE most_us IS NOT NULL
)

SELECT
    cluster, run_uuid, asked_source, expected_us, covered_us,
    CASE
        WHEN covered_us = 0 THEN 'not_observed'
        WHEN is_whole THEN 'nothing_happened'
        ELSE 'partly_observed'
    END AS empty_means
FROM judged
