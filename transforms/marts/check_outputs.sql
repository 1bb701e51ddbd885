-- Step 3: whether a metric and the artifacts can be retrieved.
-- Grain: one run.
-- Reads: active_runs, run_outputs, run_artifacts.
-- Parameters: $date.
WITH metrics AS (
    SELECT
        run_uuid,
        BOOL_OR(
            kind = 'metric'
            AND is_input IS DISTINCT FROM TRUE
            AND NOT REGEXP_MATCHES(LOWER(name), '^(gpu|cpu|memory|load|disk|network)(_|[0-9]|$)')
        ) AS has_metric,
        BOOL_OR(stated_in = 'lineage') AS has_lineage,
        MIN(record_id, 3) FILTER (WHERE kind = 'metric') AS record_ids
    FROM run_artifacts
    GROUP BY run_uuid
),

outputs AS (
    SELECT
        run_uuid,
        COUNT(*) FILTER (WHERE proof IN ('contradicted', 'unproven')) AS missing_count,
        ARG_MIN(reason, {'proof': proof, 'id': run_output_id})
            FILTER (WHERE proof IN ('contradicted', 'unproven')) AS reason,
        BOOL_AND(proof = 'proven') AS is_proven,
        MIN(run_output_id, 5) AS output_ids
    FROM run_outputs
    WHERE date = CAST($date AS DATE)
    GROUP BY run_uuid
),

judged AS (
    SELECT
        r.run_uuid,
        CASE
            WHEN o.missing_count > 0 THEN 'an output is not there: ' || o.reason
            WHEN m.has_lineage AND NOT COALESCE(m.has_metric, FALSE)
                THEN 'its lineage holds no metric'
        END AS wrong,
        CASE
            WHEN o.run_uuid IS NULL THEN 'no output of it is expected or was seen'
            WHEN NOT o.is_proven THEN 'no source shows whether an output is there'
            WHEN NOT COALESCE(m.has_metric, FALSE) THEN 'no source shows its metrics'
        END AS unknown,
        LIST_CONCAT(COALESCE(o.output_ids, []), COALESCE(m.record_ids, [])) AS evidence_ids
    FROM active_runs AS r
    LEFT JOIN metrics AS m ON r.run_uuid = m.run_uuid
    LEFT JOIN outputs AS o ON r.run_uuid = o.run_uuid
)

SELECT
    run_uuid,
    CASE
        WHEN wrong IS NOT NULL THEN 'failed' WHEN unknown IS NOT NULL THEN 'not_observable'
        ELSE 'passed'
    END AS result,
    COALESCE(wrong, unknown, 'a metric is logged and all outputs were written') AS sentence,
    ['run_artifacts', 'run_outputs'] AS sources,
    evidence_ids
FROM judged
