-- What a request's credentials say of who made it: the pod to which they were given, the pod that
-- the session is named after, the service account, the node.
-- Grain: credential, time of a request.
-- Reads: transfer_requests, transfer_credentials, transfer_sessions, transfer_names,
--   transfer_holders, node_states.
-- Parameters: $guard_us (skew guard).
WITH asked AS (
    SELECT c.credential_number, r.event_us
    FROM transfer_requests AS r
    INNER JOIN transfer_credentials AS c
        ON r.access_key_id_hash IS NOT DISTINCT FROM c.access_key_id_hash
        AND r.session_arn IS NOT DISTINCT FROM c.session_arn
    GROUP BY c.credential_number, r.event_us
),

keys AS (
    SELECT credential_number, 'key/' || access_key_id_hash AS credential, TRUE AS is_key
    FROM transfer_credentials
    WHERE access_key_id_hash IS NOT NULL
    UNION ALL
    SELECT credential_number, 'arn/' || session_arn AS credential, FALSE AS is_key
    FROM transfer_credentials
    WHERE session_arn IS NOT NULL
),

held AS (
    SELECT
        k.credential_number, k.is_key, s.pod_uid, s.namespace, s.pod_name, s.account,
        s.start_us - CAST($guard_us AS BIGINT) AS start_us,
        s.end_us + CAST($guard_us AS BIGINT) AS end_us
    FROM keys AS k
    INNER JOIN transfer_sessions AS s ON k.credential = s.credential
),

given AS (
    SELECT
        a.credential_number,
        a.event_us,
        LIST_SORT(LIST(DISTINCT h.pod_uid) FILTER (WHERE h.is_key AND h.pod_uid IS NOT NULL))
            AS key_pods,
        LIST_SORT(LIST(DISTINCT h.pod_uid) FILTER (WHERE NOT h.is_key AND h.pod_uid IS NOT NULL))
            AS session_pods,
        MIN(h.namespace) FILTER (WHERE h.pod_uid IS NOT NULL) AS namespace,
        MIN(h.pod_name) FILTER (WHERE h.pod_uid IS NOT NULL) AS pod_name,
        LIST_SORT(LIST(DISTINCT h.account) FILTER (WHERE h.account IS NOT NULL)) AS accounts
    FROM asked AS a
    INNER JOIN held AS h
        ON a.credential_number = h.credential_number
        AND a.event_us >= h.start_us
        AND a.event_us < h.end_us
    GROUP BY a.credential_number, a.event_us
),

named AS (
    SELECT
        a.credential_number,
        a.event_us,
        SUM(h.pod_count) AS named_count,
        LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(h.pods) FILTER (WHERE h.pods IS NOT NULL))))
            AS named_pods
    FROM asked AS a
    INNER JOIN transfer_names AS n ON a.credential_number = n.credential_number
    INNER JOIN transfer_holders AS h
        ON n.holder_key = h.holder_key
        AND a.event_us // 3600000000 = h.hour_bucket
        AND a.event_us >= h.segment_start_us
        AND a.event_us < h.segment_end_us
    GROUP BY a.credential_number, a.event_us
),

serving AS (
    SELECT
        g.credential_number,
        g.event_us,
        CASE WHEN COUNT(*) = 1 THEN MIN(h.pods) END AS account_pods,
        CASE
            WHEN COUNT(*) = COUNT(h.run_uuid) AND MIN(h.run_uuid) = MAX(h.run_uuid)
                THEN MIN(h.run_uuid)
        END AS account_run_uuid
    FROM (
        SELECT credential_number, event_us, UNNEST(accounts) AS account
        FROM given
        WHERE accounts IS NOT NULL
    ) AS g
    INNER JOIN transfer_holders AS h
        ON 'account/' || g.account = h.holder_key
        AND g.event_us // 3600000000 = h.hour_bucket
        AND g.event_us >= h.segment_start_us
        AND g.event_us < h.segment_end_us
    GROUP BY g.credential_number, g.event_us
),

instances AS (
    SELECT
        REGEXP_EXTRACT(provider_id, '/(i-[0-9a-f]+)$', 1) AS instance,
        MIN(cluster) AS cluster,
        MIN(node) AS node
    FROM node_states
    WHERE provider_id IS NOT NULL AND cluster IS NOT NULL
    GROUP BY REGEXP_EXTRACT(provider_id, '/(i-[0-9a-f]+)$', 1)
    HAVING COUNT(DISTINCT cluster || '/' || node) = 1
)

SELECT
    a.credential_number,
    a.event_us,
    CASE
        WHEN LEN(g.key_pods) > 0 THEN 'access_key'
        WHEN LEN(g.session_pods) > 0 THEN 'session_arn'
    END AS given_kind,
    CASE WHEN LEN(g.key_pods) > 0 THEN g.key_pods ELSE g.session_pods END AS given_pods,
    g.namespace,
    g.pod_name,
    n.named_pods,
    COALESCE(n.named_count, 0) AS named_count,
    g.accounts IS NOT NULL AS has_account,
    s.account_pods,
    s.account_run_uuid,
    i.cluster AS node_cluster,
    i.node
FROM asked AS a
INNER JOIN transfer_credentials AS c ON a.credential_number = c.credential_number
LEFT JOIN given AS g
    ON a.credential_number = g.credential_number AND a.event_us = g.event_us
LEFT JOIN named AS n
    ON a.credential_number = n.credential_number AND a.event_us = n.event_us
LEFT JOIN serving AS s
    ON a.credential_number = s.credential_number AND a.event_us = s.event_us
LEFT JOIN instances AS i ON c.session_name = i.instance
