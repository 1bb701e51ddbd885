-- Step 2: whether the application saw its data and its accelerator.
-- Grain: one run.
-- Reads: active_runs, run_dependencies, run_outputs, run_artifacts, stages (all days), run_pods.
-- Parameters: $date.
WITH stores AS (
    SELECT run_uuid, resource_id
    FROM run_outputs
    WHERE date = CAST($date AS DATE) AND expected_from = 'artifacts_store'
),

-- Of several attempts one that read it is enough.
resources AS (
    SELECT
        d.run_uuid, d.resource_id,
        BOOL_OR(d.declaration <> 'seen_not_declared') AS is_declared,
        BOOL_OR(
            d.declaration IN ('declared_seen', 'seen_not_declared')
            AND (
                d.received_bytes > 0
                OR d.request_count > d.denied_count + d.throttled_count + d.not_found_count
                    + d.error_count
            )
        ) AS is_seen,
        BOOL_OR(d.declaration IN ('declared_denied', 'declared_not_seen')) AS is_missed,
        BOOL_OR(d.declaration = 'declared_denied') AS is_denied,
        MIN(d.run_dependency_id) AS evidence_id
    FROM run_dependencies AS d
    WHERE
        d.date = CAST($date AS DATE)
        AND d.operation = 'read'
        AND REGEXP_MATCHES(d.resource_id, '^(s3|gs|az)://')
        AND NOT EXISTS (
            SELECT 1 FROM stores AS s
            WHERE s.run_uuid = d.run_uuid
            AND (STARTS_WITH(s.resource_id, d.resource_id) OR STARTS_WITH(d.resource_id, s.resource_id))
        )
    GROUP BY d.run_uuid, d.resource_id
),

data AS (
    SELECT
        run_uuid,
        BOOL_OR(is_declared AND is_denied AND NOT is_seen) AS is_denied,
        BOOL_OR(is_declared AND is_missed AND NOT is_seen) AS is_missed,
        BOOL_OR(is_declared AND NOT is_seen) AS is_open,
        BOOL_OR(is_seen) AS is_seen,
        MIN(evidence_id, 5) AS evidence_ids
    FROM resources
    GROUP BY run_uuid
),

-- Names of the machine's metrics are those of the platform's own monitor.
logged AS (
    SELECT
        run_uuid,
        BOOL_OR(REGEXP_MATCHES(LOWER(name), '^gpu')) AS has_gpu,
        BOOL_OR(REGEXP_MATCHES(LOWER(name), '^(cpu|memory|load|disk)(_|$)')) AS has_machine,
        MIN(record_id, 3) FILTER (WHERE REGEXP_MATCHES(LOWER(name), '^(gpu|cpu|memory|load|disk)'))
            AS record_ids
    FROM run_artifacts
    WHERE kind = 'metric'
    GROUP BY run_uuid
),

computed AS (
    SELECT run_uuid, MIN(stage_id, 3) AS stage_ids
    FROM stages
    WHERE
        stage = 'compute' AND start_basis = 'mark' AND run_uuid IS NOT NULL
        AND date <= CAST($date AS DATE)
    GROUP BY run_uuid
),

accelerators AS (
    SELECT
        run_uuid,
        CASE WHEN COUNT(*) = COUNT(gpu_count) OR MAX(gpu_count) > 0 THEN MAX(gpu_count) END
            AS gpu_count
    FROM run_pods
    GROUP BY run_uuid
),

judged AS (
    SELECT
        r.run_uuid,
        CASE
            WHEN d.is_denied THEN 'declared data was denied'
            WHEN d.is_missed THEN 'declared data was never read'
            WHEN
                a.gpu_count > 0 AND NOT COALESCE(l.has_gpu, FALSE)
                AND COALESCE(l.has_machine, FALSE)
                THEN 'it logged metrics of its machine, and none of a GPU'
        END AS wrong,
        CASE
            WHEN a.run_uuid IS NULL THEN 'no pod of it was seen'
            WHEN d.run_uuid IS NULL OR NOT d.is_seen THEN 'no source shows that it read data'
            WHEN d.is_open THEN 'no source shows all of its declared data'
            WHEN a.gpu_count IS NULL THEN 'whether it has an accelerator is not known'
            WHEN
                a.gpu_count > 0 AND NOT COALESCE(l.has_gpu, FALSE) AND c.run_uuid IS NULL
                THEN 'nothing that it logs shows its accelerator'
        END AS unknown,
        a.gpu_count,
        LIST_CONCAT(
            COALESCE(d.evidence_ids, []), COALESCE(l.record_ids, []), COALESCE(c.stage_ids, [])
        ) AS evidence_ids
    FROM active_runs AS r
    LEFT JOIN data AS d ON r.run_uuid = d.run_uuid
    LEFT JOIN logged AS l ON r.run_uuid = l.run_uuid
    LEFT JOIN computed AS c ON r.run_uuid = c.run_uuid
    LEFT JOIN accelerators AS a ON r.run_uuid = a.run_uuid
)

SELECT
    run_uuid,
    CASE
        WHEN wrong IS NOT NULL THEN 'failed' WHEN unknown IS NOT NULL THEN 'not_observable'
        ELSE 'passed'
    END AS result,
    COALESCE(
        wrong, unknown,
        CASE WHEN gpu_count > 0 THEN 'it read its data and computed on its accelerator'
            ELSE 'it read its data; it asks for no accelerator' END
    ) AS sentence,
    ['run_artifacts', 'run_dependencies', 'stages'] AS sources,
    evidence_ids
FROM judged
