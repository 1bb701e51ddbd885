-- To whom credentials were given in the end: sessions that asked with other sessions' credentials
-- are followed to the pod or service account at the beginning of the chain.
-- Grain: credential (`key/…` or `arn/…`), interval and holder.
-- Reads: credential_sessions.
-- Parameters: $guard_us (skew guard), $longest_us (life of a session that states no end).
WITH RECURSIVE given AS (
    SELECT
        issued_by, access_key_id_hash, session_arn, pod_uid, namespace, pod_name,
        service_account,
        COALESCE('key/' || source_access_key_id_hash, 'arn/' || source_session_arn) AS source,
        epoch_us(start_at) AS start_us,
        COALESCE(epoch_us(end_at), epoch_us(start_at) + CAST($longest_us AS BIGINT)) AS end_us
    FROM credential_sessions
),

keyed AS (
    SELECT 'key/' || access_key_id_hash AS credential, * EXCLUDE (access_key_id_hash, session_arn)
    FROM given
    WHERE access_key_id_hash IS NOT NULL
    UNION ALL
    SELECT 'arn/' || session_arn AS credential, * EXCLUDE (access_key_id_hash, session_arn)
    FROM given
    WHERE session_arn IS NOT NULL
),

chain AS (
    SELECT *, start_us AS asked_us, 0 AS depth
    FROM keyed
    UNION ALL
    SELECT
        c.credential, k.issued_by, k.pod_uid, k.namespace, k.pod_name, k.service_account,
        k.source, c.start_us, c.end_us, k.start_us AS asked_us, c.depth + 1 AS depth
    FROM chain AS c
    INNER JOIN keyed AS k
        ON c.source = k.credential
        AND c.asked_us >= k.start_us - CAST($guard_us AS BIGINT)
        AND c.asked_us < k.end_us + CAST($guard_us AS BIGINT)
    WHERE c.issued_by = 'role_chain' AND c.depth < 4
)

SELECT DISTINCT
    credential, start_us, end_us, pod_uid, namespace, pod_name,
    CASE
        WHEN pod_uid IS NULL AND namespace IS NOT NULL AND service_account IS NOT NULL
            THEN namespace || '/' || service_account
    END AS account
FROM chain
WHERE issued_by <> 'role_chain'
