-- What the telemetry itself gets wrong or does not show: bytes that cannot be, counters and records
-- that contradict what is declared of them, runs that were not wholly observed.
-- Grain: one run (of balances: pod and direction), series or observer.
-- Reads: byte_balance (all days), counter_findings, volume_findings, run_coverage, active_runs.
-- Parameters: $date.
WITH violations AS (
    SELECT
        b.*,
        LIST_CONCAT(COALESCE(b.violations, []), COALESCE(b.day_violations, [])) AS names,
        -- Bytes of no pod are known by their address.
        COALESCE(b.pod_uid, b.local_address, '') || ' ' || b.direction AS subject
    FROM byte_balance AS b
    WHERE
        b.date <= CAST($date AS DATE)
        AND (b.violations IS NOT NULL OR b.day_violations IS NOT NULL)
        AND (
            b.run_uuid IN (SELECT run_uuid FROM active_runs)
            OR (b.run_uuid IS NULL AND b.date = CAST($date AS DATE))
        )
)

SELECT
    'byte_balance_violation' AS kind,
    'telemetry' AS activity,
    CAST(NULL AS VARCHAR) AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    cluster,
    run_uuid,
    CAST(NULL AS VARCHAR) AS resource_id,
    subject,
    REPLACE(ARRAY_TO_STRING(LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(names)))), ', '), '_', ' ')
        AS detail,
    MIN(hour_start_at) AS first_at,
    MAX(hour_start_at) AS last_at,
    COUNT(*) AS occurrence_count,
    0 AS lost_us,
    0 AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    ['byte_balance'] AS sources,
    MIN(byte_balance_id, 10) AS evidence_ids
FROM violations
WHERE LEN(names) > 0
GROUP BY cluster, run_uuid, subject
UNION ALL
SELECT
    'contradicted_counter' AS kind, 'telemetry' AS activity, NULL AS error_class, NULL AS remedy,
    cluster, NULL AS run_uuid, NULL AS resource_id,
    observer || ' ' || series_id || ' ' || kind AS subject,
    detail, first_at, last_at,
    GREATEST(contradicting_count, 1) AS occurrence_count,
    0 AS lost_us, 0 AS lost_gpu_us, NULL AS min_usd, NULL AS max_usd,
    ['counter_findings'] AS sources,
    [counter_finding_id] AS evidence_ids
FROM counter_findings
-- What only leaves something unknown contradicts nothing.
WHERE
    date = CAST($date AS DATE)
    AND kind NOT IN ('small_drops', 'wraps', 'unknown_start')
UNION ALL
SELECT
    'contradicted_volume' AS kind, 'telemetry' AS activity, NULL AS error_class, NULL AS remedy,
    cluster, NULL AS run_uuid, NULL AS resource_id,
    scope || ' ' || source_format || ' ' || observer || ' ' || kind || ' ' || temporality
        AS subject,
    detail, first_at, last_at,
    GREATEST(record_count, 1) AS occurrence_count,
    0 AS lost_us, 0 AS lost_gpu_us, NULL AS min_usd, NULL AS max_usd,
    ['volume_findings'] AS sources,
    [volume_finding_id] AS evidence_ids
FROM volume_findings
WHERE date = CAST($date AS DATE) AND is_contradiction
UNION ALL
SELECT
    'missing_coverage' AS kind, 'telemetry' AS activity, NULL AS error_class, NULL AS remedy,
    MIN(r.cluster) AS cluster, c.run_uuid, NULL AS resource_id, NULL AS subject,
    'not wholly observed by ' || ARRAY_TO_STRING(LIST_SORT(LIST(c.source)), ', ') AS detail,
    NULL AS first_at, NULL AS last_at,
    COUNT(*) AS occurrence_count,
    0 AS lost_us, 0 AS lost_gpu_us, NULL AS min_usd, NULL AS max_usd,
    ['run_coverage'] AS sources,
    MIN(c.run_coverage_id, 10) AS evidence_ids
FROM run_coverage AS c
INNER JOIN active_runs AS r ON c.run_uuid = r.run_uuid
WHERE
    c.date = CAST($date AS DATE)
    AND c.expected_us > 0
    AND c.empty_means <> 'nothing_happened'
GROUP BY c.run_uuid
