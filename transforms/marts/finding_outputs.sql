-- Outputs that are not there although their run succeeded.
-- Grain: one output of one run.
-- Reads: run_outputs, active_runs.
-- Parameters: $date.
SELECT
    CASE o.proof WHEN 'contradicted' THEN 'output_contradicted' ELSE 'output_unproven' END AS kind,
    'output' AS activity,
    CASE
        WHEN NOT o.reason LIKE 'the last write failed%' THEN NULL
        WHEN is_refused_credential(o.reason) THEN 'credentials'
        WHEN REGEXP_MATCHES(o.reason, ': 403|AccessDenied|PERMISSION_DENIED') THEN 'forbidden'
        WHEN REGEXP_MATCHES(o.reason, ': 429|: 503|SlowDown|ServiceUnavailable|RESOURCE_EXHAUSTED')
            THEN 'throttled'
        WHEN REGEXP_MATCHES(o.reason, ': 5[0-9][0-9]|InternalError') THEN 'server_error'
    END AS error_class,
    CAST(NULL AS VARCHAR) AS remedy,
    r.cluster,
    o.run_uuid,
    o.resource_id,
    o.name AS subject,
    'the run succeeded: ' || o.reason AS detail,
    o.uploaded_at AS first_at,
    COALESCE(o.deleted_at, o.uploaded_at) AS last_at,
    1 AS occurrence_count,
    0 AS lost_us,
    0 AS lost_gpu_us,
    CAST(NULL AS DECIMAL(38, 9)) AS min_usd,
    CAST(NULL AS DECIMAL(38, 9)) AS max_usd,
    ['run_outputs'] AS sources,
    [o.run_output_id] AS evidence_ids
FROM run_outputs AS o
INNER JOIN active_runs AS r ON o.run_uuid = r.run_uuid
WHERE o.date = CAST($date AS DATE) AND o.proof IN ('contradicted', 'unproven')
