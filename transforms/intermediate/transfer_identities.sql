-- What a request's credentials say of who made it: the pod to which they were given, the pod that
-- the session is named after, the service account, the node.
-- Grain: credential, time of a request.
-- Reads: transfer_requests, transfer_credentials, transfer_sessions, transfer_pods, node_states.
-- Parameters: $guard_us (skew guard), $most (longest list of candidates).
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

-- EKS names a session after the first ten characters of cluster and pod, either of which may hold
-- dashes; pods that ask for themselves may put their whole name there.
names AS (
    SELECT credential_number, session_name AS pod_name, FALSE AS is_short
    FROM transfer_credentials
    WHERE session_name IS NOT NULL
    UNION ALL
    SELECT
        credential_number,
        UNNEST(LIST_TRANSFORM(
            RANGE(1, LENGTH(middle) + 1),
            LAMBDA n: CASE
                WHEN SUBSTRING(middle, CAST(n AS BIGINT), 1) = '-' AND n <= 11
                    THEN SUBSTRING(middle, CAST(n AS BIGINT) + 1)
            END
        )) AS pod_name,
        TRUE AS is_short
    FROM (
        SELECT
            credential_number,
            REGEXP_EXTRACT(
                session_name,
                '^eks-(.{1,21})-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
                1
            ) AS middle
        FROM transfer_credentials
    )
    WHERE middle <> ''
),

named_after AS (
    SELECT DISTINCT
        n.credential_number, p.pod_uid,
        p.start_us - CAST($guard_us AS BIGINT) AS start_us,
        p.end_us + CAST($guard_us AS BIGINT) AS end_us
    FROM names AS n
    INNER JOIN transfer_pods AS p
        ON n.pod_name = CASE WHEN n.is_short THEN SUBSTRING(p.pod_name, 1, 10) ELSE p.pod_name END
    WHERE n.pod_name IS NOT NULL AND n.pod_name <> ''
),

named AS (
    SELECT
        a.credential_number, a.event_us, LIST_SORT(LIST(DISTINCT n.pod_uid)) AS named_pods
    FROM asked AS a
    INNER JOIN named_after AS n
        ON a.credential_number = n.credential_number
        AND a.event_us >= n.start_us
        AND a.event_us < n.end_us
    GROUP BY a.credential_number, a.event_us
),

serving AS (
    SELECT
        g.credential_number,
        g.event_us,
        LIST_SORT(LIST(DISTINCT p.pod_uid)) AS account_pods,
        CASE
            WHEN COUNT(*) = COUNT(p.run_uuid) AND MIN(p.run_uuid) = MAX(p.run_uuid)
                THEN MIN(p.run_uuid)
        END AS account_run_uuid
    FROM (
        SELECT credential_number, event_us, UNNEST(accounts) AS account
        FROM given
        WHERE accounts IS NOT NULL
    ) AS g
    INNER JOIN transfer_pods AS p
        ON g.account = p.namespace || '/' || p.service_account
        AND g.event_us >= p.start_us - CAST($guard_us AS BIGINT)
        AND g.event_us < p.end_us + CAST($guard_us AS BIGINT)
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
    g.accounts IS NOT NULL AS has_account,
    CASE WHEN LEN(s.account_pods) <= CAST($most AS BIGINT) THEN s.account_pods END AS account_pods,
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
