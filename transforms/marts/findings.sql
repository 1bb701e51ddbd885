-- Everything that someone should do, with who and by what rule, in the order of what it costs.
-- Grain: one finding.
-- Reads: finding_storms, finding_pulls, finding_waits, finding_denials, finding_exits,
--   finding_access, finding_outputs, finding_telemetry, finding_repeats, finding_rules,
--   owner_rules, active_runs.
-- Parameters: $is_final.
WITH found AS (
    SELECT * FROM finding_storms
    UNION ALL
    SELECT * FROM finding_pulls
    UNION ALL
    SELECT * FROM finding_waits
    UNION ALL
    SELECT * FROM finding_denials
    UNION ALL
    SELECT * FROM finding_exits
    UNION ALL
    SELECT * FROM finding_access
    UNION ALL
    SELECT * FROM finding_outputs
    UNION ALL
    SELECT * FROM finding_telemetry
    UNION ALL
    SELECT * FROM finding_repeats
),

told AS (
    SELECT
        f.*,
        row_id([
            id_text(f.run_uuid), id_text(f.cluster), id_text(f.kind), id_text(f.resource_id),
            id_text(f.subject)
        ]) AS finding_id,
        k.severity, k.suggested_change, k.shown_by,
        COALESCE(e.responsible, d.responsible) AS responsible,
        r.project,
        COALESCE(r.is_final, CAST($is_final AS BOOLEAN)) AS is_final
    FROM found AS f
    INNER JOIN finding_rules AS k
        ON f.kind = k.kind AND f.remedy IS NOT DISTINCT FROM k.remedy
    LEFT JOIN owner_rules AS e
        ON f.activity = e.activity AND f.error_class = e.error_class
    LEFT JOIN owner_rules AS d ON f.activity = d.activity AND d.error_class IS NULL
    LEFT JOIN active_runs AS r ON f.run_uuid = r.run_uuid
)

SELECT
    finding_id,
    ROW_NUMBER() OVER (
        ORDER BY
            COALESCE(lost_gpu_us, 0) DESC,
            COALESCE(min_usd, 0) DESC,
            COALESCE(max_usd, 0) DESC,
            LIST_POSITION(['high', 'medium', 'low'], severity),
            lost_us DESC,
            kind,
            finding_id
    ) AS rank,
    kind,
    severity,
    responsible,
    run_uuid,
    cluster,
    project,
    resource_id,
    subject,
    detail,
    first_at,
    last_at,
    CAST(occurrence_count AS BIGINT) AS occurrence_count,
    suggested_change,
    shown_by,
    CAST(lost_us AS BIGINT) AS lost_us,
    CAST(lost_gpu_us AS BIGINT) AS lost_gpu_us,
    CAST(lost_gpu_us AS DOUBLE) / 1000000 AS lost_gpu_seconds,
    CAST(CASE WHEN min_usd < 1000000000 THEN min_usd END AS DECIMAL(18, 9)) AS avoidable_usd,
    CAST(CASE WHEN max_usd < 1000000000 THEN max_usd END AS DECIMAL(18, 9)) AS max_avoidable_usd,
    sources,
    LIST_SORT(LIST_DISTINCT(evidence_ids))[1:10] AS evidence_ids,
    is_final,
    CAST(NULL AS VARCHAR) AS asked_cluster,
    run_uuid AS asked_run,
    resource_id AS asked_resource,
    CASE
        WHEN run_uuid IS NULL THEN NULL
        WHEN kind = 'missing_coverage' THEN 'flows'
        WHEN kind IN ('contradicted_counter', 'byte_balance_violation') THEN 'counter_samples'
        WHEN kind = 'contradicted_volume' THEN 'volume_records'
        WHEN
            kind IN (
                'denied_storage', 'denied_network', 'retry_storm', 'cross_project_read',
                'undeclared_principal', 'output_contradicted', 'output_unproven', 'repeat_transfer'
            )
            THEN 'connect'
    END AS asked_operation
FROM told
