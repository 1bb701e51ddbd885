-- Addresses that look-ups were answered, with the name asked.
-- Grain: one look-up and address.
-- Reads: dns_lookups.
-- Parameters: $cluster, $span_start (start of the look-back), $read_until.
WITH lookups AS (
    SELECT
        -- Tells look-ups apart; nothing depends on which has which number.
        ROW_NUMBER() OVER () AS lookup_id,
        event_at, node, client_address, client_namespace, client_pod_name, client_pod_uid,
        query_name, query_type, source_format, answers
    FROM dns_lookups
    WHERE
        cluster = $cluster
        AND is_response
        AND event_at >= CAST($span_start AS TIMESTAMPTZ)
        AND event_at < CAST($read_until AS TIMESTAMPTZ)
        AND LEN(answers) > 0
        AND query_name <> ''
),

-- A chain is as fresh as its stalest link; its last name is where the last CNAME leads.
chains AS (
    SELECT
        *,
        LIST_MIN(
            LIST_TRANSFORM(
                LIST_FILTER(answers, LAMBDA a: a.type = 'CNAME'), LAMBDA a: a.ttl
            )
        ) AS chain_ttl,
        LIST_FILTER(answers, LAMBDA a: a.type = 'CNAME' AND a.data IS NOT NULL)[-1].data
            AS last_alias
    FROM lookups
),

addresses AS (
    SELECT
        * EXCLUDE (answers),
        UNNEST(
            LIST_FILTER(answers, LAMBDA a: a.type IN ('A', 'AAAA') AND a.data <> '')
        ) AS answer
    FROM chains
)

SELECT
    lookup_id, event_at, node, client_address, client_namespace, client_pod_name,
    client_pod_uid, query_name AS name, query_type, source_format,
    answer.data AS address,
    NULLIF(LOWER(RTRIM(last_alias, '.')), '') AS canonical_name,
    -- LEAST leaves nulls out. A time to live above 2^31 - 1 means 0 (RFC 2181, 8).
    CASE
        WHEN LEAST(answer.ttl, chain_ttl) BETWEEN 0 AND 2147483647
            THEN LEAST(answer.ttl, chain_ttl)
        WHEN LEAST(answer.ttl, chain_ttl) IS NOT NULL THEN 0
    END AS ttl_seconds
FROM addresses
