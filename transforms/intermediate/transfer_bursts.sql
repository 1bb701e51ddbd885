-- Requests grouped into transfers, summed over the day.
-- Grain: one transfer that has a request on the day.
-- Reads: transfer_requests, match_output, run_versions, pod_intervals.
-- Parameters: $from_us (start of the look-back), $start_us (start of the day), $gap_us.
WITH known_runs AS (
    SELECT run_uuid FROM run_versions
    UNION
    SELECT run_uuid FROM pod_intervals WHERE run_uuid IS NOT NULL
),

claims AS (
    SELECT
        app_id,
        REGEXP_EXTRACT(
            LOWER(REPLACE(app_id, '-', '')), '(?:^|[^0-9a-f])([0-9a-f]{32})(?:[^0-9a-f]|$)', 1
        ) AS run_uuid
    FROM transfer_requests
    WHERE app_id IS NOT NULL
    GROUP BY app_id
),

stated AS (
    SELECT c.app_id, c.run_uuid
    FROM claims AS c
    INNER JOIN known_runs AS k USING (run_uuid)
),

matched AS (
    SELECT
        r.*,
        m.cluster AS pod_cluster,
        m.pod_uid,
        m.namespace,
        m.pod_name,
        m.node,
        COALESCE(m.run_uuid, CASE WHEN COALESCE(m.match_kind, 'none') = 'none' THEN s.run_uuid END)
            AS run_uuid,
        m.attempt,
        CASE
            WHEN COALESCE(m.match_kind, 'none') = 'none' AND s.run_uuid IS NOT NULL THEN 'app_id'
            ELSE COALESCE(m.match_kind, 'none')
        END AS match_kind,
        m.candidate_pod_uids,
        -- The client as far as it is one: an address that comes to mean another pod is another.
        CONCAT_WS(
            '/', m.match_kind, m.pod_uid, m.node, ARRAY_TO_STRING(m.candidate_pod_uids, ','),
            s.run_uuid
        ) AS client
    FROM transfer_requests AS r
    LEFT JOIN match_output AS m
        ON r.client_address = m.item_id.address
        AND r.event_us = m.item_id.event_us
        AND r.cluster IS NOT DISTINCT FROM m.item_id.cluster
    LEFT JOIN stated AS s ON r.app_id = s.app_id
),

spaced AS (
    SELECT
        *,
        event_us - LAG(event_us) OVER (
            PARTITION BY
                provider, bucket, key, version_id, client_address, principal, user_agent,
                operation, client
            ORDER BY event_us, record_id
        ) > CAST($gap_us AS BIGINT) AS is_behind_gap
    FROM matched
    WHERE NOT is_complete OR is_complete IS NULL
),

numbered AS (
    SELECT
        * EXCLUDE (is_behind_gap),
        SUM(CASE WHEN is_behind_gap THEN 1 ELSE 0 END) OVER (
            PARTITION BY
                provider, bucket, key, version_id, client_address, principal, user_agent,
                operation, client
            ORDER BY event_us, record_id
            ROWS UNBOUNDED PRECEDING
        ) AS burst
    FROM spaced
),

begun AS (
    SELECT
        *,
        MIN(event_us) OVER (
            PARTITION BY
                provider, bucket, key, version_id, client_address, principal, user_agent,
                operation, client, burst
        ) AS began_us
    FROM numbered
),

-- A burst that reaches back to the edge of the look-back may be older than anything seen.
edged AS (
    SELECT
        *,
        began_us < CAST($from_us AS BIGINT) + CAST($gap_us AS BIGINT)
        AND began_us < CAST($start_us AS BIGINT) AS opened_before
    FROM begun
),

grouped AS (
    SELECT *, CAST(NULL AS VARCHAR) AS alone
    FROM edged
    WHERE NOT opened_before OR event_us >= CAST($start_us AS BIGINT)
    UNION ALL
    SELECT *, 0 AS burst, event_us AS began_us, FALSE AS opened_before, record_id AS alone
    FROM matched
    WHERE is_complete AND event_us >= CAST($start_us AS BIGINT)
)

SELECT
    provider,
    bucket,
    key,
    version_id,
    client_address,
    principal,
    user_agent,
    operation,
    ARG_MIN(record_id, (event_us, record_id)) AS first_record_id,
    MIN(event_us) AS began_us,
    MAX(answered_us) FILTER (WHERE event_us >= CAST($start_us AS BIGINT)) AS ended_us,
    CASE WHEN MIN(etag) = MAX(etag) THEN MIN(etag) END AS etag,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT)) AS request_count,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT) AND outcome = 'success')
        AS success_count,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT) AND status = 304)
        AS not_modified_count,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT) AND outcome = 'denied')
        AS denied_count,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT) AND outcome = 'not_found')
        AS not_found_count,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT) AND outcome = 'throttled')
        AS throttled_count,
    COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT) AND outcome = 'error')
        AS error_count,
    ARG_MIN(failure, (event_us, record_id)) FILTER (
        WHERE event_us >= CAST($start_us AS BIGINT) AND failure IS NOT NULL
    ) AS first_error,
    COALESCE(
        SUM(moved_bytes) FILTER (
            WHERE event_us >= CAST($start_us AS BIGINT) AND outcome = 'success'
        ),
        0
    ) AS transferred_bytes,
    COALESCE(
        SUM(response_bytes) FILTER (
            WHERE event_us >= CAST($start_us AS BIGINT)
            AND outcome IN ('denied', 'not_found', 'throttled', 'error')
        ),
        0
    ) AS error_bytes,
    COUNT(*) FILTER (
        WHERE event_us >= CAST($start_us AS BIGINT)
        AND outcome = 'success'
        AND operation IN ('read', 'write')
        AND status IS DISTINCT FROM 304
        AND moved_bytes IS NULL
    ) AS unlogged_bytes_count,
    -- Of an upload in parts only the completion tells the size.
    CASE
        WHEN operation = 'write' AND BOOL_OR(is_part)
            THEN MAX(object_size_bytes) FILTER (WHERE is_completion)
        ELSE MAX(object_size_bytes) FILTER (WHERE NOT is_part)
    END AS object_size_bytes,
    MIN(alone) IS NOT NULL AS is_complete,
    BOOL_OR(opened_before) AS opened_before,
    MIN(pod_cluster) AS cluster,
    MIN(pod_uid) AS pod_uid,
    MIN(namespace) AS namespace,
    MIN(pod_name) AS pod_name,
    MIN(node) AS node,
    MIN(run_uuid) AS run_uuid,
    MIN(attempt) AS attempt,
    MIN(match_kind) AS match_kind,
    MIN(candidate_pod_uids) AS candidate_pod_uids,
    CASE
        WHEN MIN(bucket_region) = MAX(bucket_region) THEN MIN(bucket_region)
    END AS bucket_region,
    ARG_MIN(endpoint, (event_us, record_id)) FILTER (WHERE endpoint IS NOT NULL) AS endpoint,
    ARG_MIN(vpc_endpoint_id, (event_us, record_id)) FILTER (WHERE vpc_endpoint_id IS NOT NULL)
        AS vpc_endpoint_id,
    MAX(duration_seconds) FILTER (WHERE event_us >= CAST($start_us AS BIGINT))
        AS duration_seconds,
    MIN(bucket_id) AS bucket_id,
    MIN(path) AS path
FROM grouped
GROUP BY
    provider, bucket, key, version_id, client_address, principal, user_agent, operation, client,
    burst, alone
HAVING COUNT(*) FILTER (WHERE event_us >= CAST($start_us AS BIGINT)) > 0
