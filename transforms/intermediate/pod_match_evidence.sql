-- Who answers to what an item states: its address, its namespace and name, its UID.
-- Grain: item, holder: a pod (`pod`), or of an address a host-network pod (`host_pod`) or a node
-- (`node`). `by_*`: the widened interval holds the item's time; `*_exact`: the unwidened one does.
-- Reads: pod_match_rest, pod_match_lives, pod_match_nodes, pod_match_pods.
-- Parameters: $guard_us (skew guard, microseconds), $from_us and $until_us (nothing outside is
--   matched, so that a wild time cannot make endless buckets), $slice and $slices.
WITH stated AS (
    SELECT
        item_number, cluster, event_us, 'address' AS key_kind,
        '' AS key_namespace, address AS key_text
    FROM pod_match_rest
    WHERE is_held
    UNION ALL
    SELECT
        item_number, cluster, event_us, 'name' AS key_kind,
        namespace AS key_namespace, pod_name AS key_text
    FROM pod_match_rest
    WHERE namespace IS NOT NULL AND pod_name IS NOT NULL
    UNION ALL
    SELECT
        item_number, cluster, event_us, 'uid' AS key_kind,
        '' AS key_namespace, pod_uid AS key_text
    FROM pod_match_rest
    WHERE pod_uid IS NOT NULL
),

keys AS (
    SELECT
        item_number, cluster, event_us, key_kind, key_namespace, key_text,
        event_us // 3600000000 AS hour_bucket
    FROM stated
    WHERE
        item_number % CAST($slices AS BIGINT) = CAST($slice AS BIGINT)
        AND event_us >= CAST($from_us AS BIGINT)
        AND event_us < CAST($until_us AS BIGINT)
),

bounds AS (
    SELECT MIN(event_us) AS from_us, MAX(event_us) + 1 AS until_us
    FROM keys
),

claims AS (
    SELECT
        'address' AS key_kind, '' AS key_namespace, address AS key_text,
        CASE WHEN host_network THEN 'host_pod' ELSE 'pod' END AS holder_kind,
        cluster, pod_number, CAST(NULL AS VARCHAR) AS node, start_us, end_us
    FROM pod_match_lives
    WHERE address IN (SELECT address FROM pod_match_rest WHERE is_held)
    UNION ALL
    SELECT
        'name' AS key_kind, namespace AS key_namespace, pod_name AS key_text,
        'pod' AS holder_kind,
        cluster, pod_number, NULL AS node, life_start_us AS start_us, end_us
    FROM pod_match_lives
    WHERE (namespace, pod_name) IN (SELECT namespace, pod_name FROM pod_match_rest)
    UNION ALL
    SELECT
        'uid' AS key_kind, '' AS key_namespace, p.pod_uid AS key_text,
        'pod' AS holder_kind,
        l.cluster, l.pod_number, NULL AS node, l.life_start_us AS start_us, l.end_us
    FROM pod_match_lives AS l
    INNER JOIN pod_match_pods AS p ON l.pod_number = p.owner
    WHERE p.pod_uid IN (SELECT pod_uid FROM pod_match_rest)
    UNION ALL
    SELECT
        'address' AS key_kind, '' AS key_namespace, address AS key_text,
        'node' AS holder_kind,
        cluster, 0 AS pod_number, node, start_us, end_us
    FROM pod_match_nodes
    WHERE address IN (SELECT address FROM pod_match_rest WHERE is_held)
),

clipped AS (
    SELECT
        c.*,
        GREATEST(c.start_us - CAST($guard_us AS BIGINT), b.from_us) AS wide_start_us,
        LEAST(c.end_us + CAST($guard_us AS BIGINT), b.until_us) AS wide_end_us
    FROM claims AS c
    CROSS JOIN bounds AS b
),

claim_hours AS (
    SELECT
        *,
        UNNEST(
            RANGE(wide_start_us // 3600000000, (wide_end_us - 1) // 3600000000 + 1)
        ) AS hour_bucket
    FROM clipped
    WHERE wide_start_us < wide_end_us
)

SELECT
    k.item_number,
    c.holder_kind,
    c.pod_number,
    CASE WHEN c.holder_kind = 'node' THEN c.cluster END AS node_cluster,
    c.node,
    BOOL_OR(k.key_kind = 'uid') AS by_uid,
    BOOL_OR(k.key_kind = 'name') AS by_name,
    BOOL_OR(k.key_kind = 'address') AS by_address,
    BOOL_OR(k.key_kind = 'uid' AND k.event_us >= c.start_us AND k.event_us < c.end_us)
        AS uid_exact,
    BOOL_OR(k.key_kind = 'name' AND k.event_us >= c.start_us AND k.event_us < c.end_us)
        AS name_exact,
    BOOL_OR(k.key_kind = 'address' AND k.event_us >= c.start_us AND k.event_us < c.end_us)
        AS address_exact
FROM keys AS k
INNER JOIN claim_hours AS c
    ON k.key_kind = c.key_kind
    AND k.key_namespace = c.key_namespace
    AND k.key_text = c.key_text
    AND k.hour_bucket = c.hour_bucket
    AND k.event_us >= c.wide_start_us
    AND k.event_us < c.wide_end_us
WHERE k.cluster IS NULL OR k.cluster = c.cluster
GROUP BY
    k.item_number, c.holder_kind, c.pod_number,
    CASE WHEN c.holder_kind = 'node' THEN c.cluster END, c.node
