-- Each client's dealings with one object version: what is cut into bursts. A number stands for the
-- texts of the key, so that these are compared once.
-- Grain: provider, bucket, key, version, operation, client.
-- Reads: transfer_requests, run_versions, pod_intervals.
-- Parameters: $end_us (end of the day).
WITH dealings AS (
    SELECT
        dealing, provider, bucket_id, bucket, key, version_id, operation, client_address, principal,
        user_agent,
        CASE WHEN MIN(app_id) = MAX(app_id) THEN LOWER(MIN(app_id)) END AS app_id
    FROM transfer_requests
    GROUP BY
        dealing, provider, bucket_id, bucket, key, version_id, operation, client_address, principal,
        user_agent
),

claims AS (
    SELECT
        app_id,
        REPLACE(
            REGEXP_EXTRACT(
                app_id,
                '(?:^|[^0-9a-f])'
                || '([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})'
                || '(?:[^0-9a-f]|$)',
                1
            ),
            '-',
            ''
        ) AS run_uuid
    FROM dealings
    WHERE app_id IS NOT NULL
    GROUP BY app_id
),

known_runs AS (
    SELECT run_uuid
    FROM run_versions
    WHERE epoch_us(COALESCE(created_at, observed_at)) < CAST($end_us AS BIGINT)
    UNION
    SELECT run_uuid FROM pod_intervals WHERE run_uuid IS NOT NULL
),

stated AS (
    SELECT c.app_id, c.run_uuid
    FROM claims AS c
    INNER JOIN known_runs AS k ON c.run_uuid = k.run_uuid
)

SELECT
    ROW_NUMBER() OVER () AS group_number,
    d.dealing,
    d.provider,
    d.bucket_id,
    d.bucket,
    d.key,
    d.version_id,
    d.operation,
    d.client_address,
    d.principal,
    d.user_agent,
    CASE WHEN d.key IS NULL THEN d.bucket_id ELSE d.bucket_id || '/' || d.key END AS path,
    s.run_uuid AS stated_run_uuid
FROM dealings AS d
LEFT JOIN stated AS s ON d.app_id = s.app_id
