-- Temporary credentials with which requests were made; a number stands for their texts.
-- Grain: access key and session.
-- Reads: transfer_requests.
WITH used AS (
    SELECT access_key_id_hash, session_arn
    FROM transfer_requests
    WHERE access_key_id_hash IS NOT NULL OR session_arn IS NOT NULL
    GROUP BY access_key_id_hash, session_arn
)

SELECT
    ROW_NUMBER() OVER (ORDER BY access_key_id_hash, session_arn) AS credential_number,
    access_key_id_hash,
    session_arn,
    NULLIF(REGEXP_EXTRACT(session_arn, '^arn:[^:]*:sts::[0-9]*:assumed-role/[^/]+/(.+)$', 1), '')
        AS session_name
FROM used
