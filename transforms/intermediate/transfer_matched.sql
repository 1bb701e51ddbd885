-- Requests with who made them, and of which dealings they are: the storage ladder of design.md 5.
-- Grain: one request.
-- Reads: transfer_requests, transfer_groups, transfer_credentials, transfer_identities,
--   transfer_pods, transfer_gateways, match_output.
-- Parameters: $start_us (start of the day).
WITH evidence AS (
    SELECT
        r.* EXCLUDE (
            principal, session_arn, access_key_id_hash, user_agent, app_id, bucket_id, dealing
        ),
        g.group_number,
        i.given_kind,
        i.given_pods,
        i.namespace AS given_namespace,
        i.pod_name AS given_pod_name,
        COALESCE(i.named_pods, []) AS named_pods,
        COALESCE(i.named_count, 0) AS named_count,
        COALESCE(i.has_account, FALSE) AS has_account,
        i.account_pods,
        i.account_run_uuid,
        i.node_cluster,
        i.node AS named_node,
        m.cluster AS found_cluster,
        m.namespace AS found_namespace,
        m.pod_name AS found_pod_name,
        m.pod_uid AS found_pod_uid,
        m.node AS found_node,
        m.run_uuid AS found_run_uuid,
        m.attempt AS found_attempt,
        COALESCE(m.match_kind, 'none') AS found_kind,
        m.candidate_pod_uids,
        w.client_address IS NOT NULL AS is_shared,
        w.candidate_pod_uids AS shared_pods
    FROM transfer_requests AS r
    INNER JOIN transfer_groups AS g ON r.dealing = g.dealing
    LEFT JOIN transfer_credentials AS c
        ON r.access_key_id_hash IS NOT DISTINCT FROM c.access_key_id_hash
        AND r.session_arn IS NOT DISTINCT FROM c.session_arn
    LEFT JOIN transfer_identities AS i
        ON c.credential_number = i.credential_number AND r.event_us = i.event_us
    LEFT JOIN match_output AS m
        ON r.event_us = m.item_id.event_us
        AND r.client_address IS NOT DISTINCT FROM m.item_id.address
        AND CASE WHEN LEN(i.given_pods) = 1 THEN i.given_pods[1] END
            IS NOT DISTINCT FROM m.item_id.pod_uid
    LEFT JOIN transfer_gateways AS w
        ON r.client_address = w.client_address AND r.event_us = w.event_us
),

laddered AS (
    SELECT
        *,
        CASE
            -- Credentials given to one pod: the pod of the match has that UID, or is not known.
            WHEN LEN(given_pods) = 1 THEN
                CASE
                    WHEN found_kind IN ('uid', 'none') THEN given_kind
                    WHEN found_kind = 'ambiguous' THEN 'ambiguous'
                    ELSE 'conflict'
                END
            WHEN LEN(given_pods) > 1 THEN
                CASE
                    WHEN LIST_CONTAINS(given_pods, found_pod_uid) THEN found_kind
                    WHEN found_pod_uid IS NOT NULL THEN 'conflict'
                    ELSE 'ambiguous'
                END
            WHEN found_kind IN ('address_window', 'conflict') THEN found_kind
            WHEN found_kind = 'ambiguous' THEN
                CASE
                    WHEN LEN(LIST_INTERSECT(named_pods, candidate_pod_uids)) = 1
                        AND LEN(named_pods) = named_count
                        THEN 'session_name'
                    ELSE 'ambiguous'
                END
            WHEN LEN(named_pods) = 1 AND named_count = 1 THEN 'session_name'
            WHEN named_count > 0 THEN 'ambiguous'
            WHEN account_run_uuid IS NOT NULL THEN 'service_account'
            WHEN has_account THEN 'ambiguous'
            WHEN found_kind = 'node' OR named_node IS NOT NULL THEN 'node'
            WHEN is_shared THEN 'shared_address'
            ELSE 'none'
        END AS kind
    FROM evidence
),

chosen AS (
    SELECT
        *,
        CASE
            WHEN kind IN ('access_key', 'session_arn') THEN given_pods[1]
            WHEN kind = 'session_name' AND LEN(candidate_pod_uids) > 0
                THEN LIST_INTERSECT(named_pods, candidate_pod_uids)[1]
            WHEN kind = 'session_name' THEN named_pods[1]
            WHEN kind = 'address_window' THEN found_pod_uid
        END AS chosen_pod_uid
    FROM laddered
),

told AS (
    SELECT
        h.*,
        CASE
            WHEN h.kind = 'session_name' THEN p.cluster
            WHEN h.kind = 'node' THEN COALESCE(h.found_cluster, h.node_cluster)
            WHEN h.chosen_pod_uid IS NOT NULL THEN h.found_cluster
        END AS cluster,
        CASE
            WHEN h.kind = 'session_name' THEN p.namespace
            WHEN h.chosen_pod_uid IS NOT NULL
                THEN COALESCE(h.found_namespace, h.given_namespace)
        END AS namespace,
        CASE
            WHEN h.kind = 'session_name' THEN p.pod_name
            WHEN h.chosen_pod_uid IS NOT NULL THEN COALESCE(h.found_pod_name, h.given_pod_name)
        END AS pod_name,
        CASE
            WHEN h.kind = 'session_name' THEN p.node
            WHEN h.kind = 'node' THEN COALESCE(h.found_node, h.named_node)
            WHEN h.chosen_pod_uid IS NOT NULL THEN h.found_node
        END AS node,
        CASE
            WHEN h.kind = 'session_name' THEN p.run_uuid
            WHEN h.kind = 'service_account' THEN h.account_run_uuid
            WHEN h.chosen_pod_uid IS NOT NULL THEN h.found_run_uuid
        END AS run_uuid,
        CASE
            WHEN h.kind = 'session_name' THEN p.attempt
            WHEN h.chosen_pod_uid IS NOT NULL THEN h.found_attempt
        END AS attempt,
        CASE
            WHEN h.chosen_pod_uid IS NOT NULL THEN NULL
            WHEN h.kind = 'shared_address' THEN h.shared_pods
            WHEN h.kind = 'service_account' THEN h.account_pods
            WHEN h.kind = 'conflict'
                THEN LIST_SORT(LIST_DISTINCT(LIST_CONCAT(
                    COALESCE(h.given_pods, []), COALESCE(h.candidate_pod_uids, []),
                    CASE WHEN h.found_pod_uid IS NULL THEN [] ELSE [h.found_pod_uid] END
                )))
            WHEN h.kind = 'ambiguous' AND LEN(h.given_pods) > 1 THEN h.given_pods
            WHEN h.kind = 'ambiguous' AND h.found_kind <> 'ambiguous'
                THEN CASE
                    WHEN h.named_count = 0 THEN h.account_pods
                    WHEN LEN(h.named_pods) = h.named_count THEN h.named_pods
                END
            ELSE h.candidate_pod_uids
        END AS candidates
    FROM chosen AS h
    LEFT JOIN transfer_pods AS p
        ON h.kind = 'session_name' AND h.chosen_pod_uid = p.pod_uid
)

SELECT
    record_id,
    event_us,
    answered_us,
    etag,
    status,
    outcome,
    failure,
    moved_bytes,
    offset_bytes,
    object_size_bytes,
    is_complete,
    is_change,
    bucket_region,
    endpoint,
    vpc_endpoint_id,
    duration_seconds,
    event_us >= CAST($start_us AS BIGINT) AS is_today,
    group_number,
    cluster,
    namespace,
    pod_name,
    chosen_pod_uid AS pod_uid,
    node,
    run_uuid,
    attempt,
    kind AS match_kind,
    candidates AS candidate_pod_uids,
    -- An address that comes to mean another pod is another client.
    MD5(CONCAT_WS(
        '/', kind, cluster, chosen_pod_uid, node,
        CASE WHEN kind = 'service_account' THEN run_uuid END,
        ARRAY_TO_STRING(candidates, ',')
    )) AS holder
FROM told
