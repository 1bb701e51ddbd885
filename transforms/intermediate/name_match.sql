-- The name of an address for a client at a moment, from the best scope with a live binding.
-- Grain: one row of name_input that has a live binding.
-- Reads: name_input, name_match_hours, name_bindings.
-- Parameters: $most (longest list of candidates).
WITH items AS (
    SELECT
        item_id, cluster, pod_uid, node, address,
        epoch_us(event_at) AS event_us,
        epoch_us(event_at) // 3600000000 AS hour_bucket
    FROM name_input
),

asked AS (
    SELECT item_id, 1 AS rung, cluster, 'pod' AS scope, pod_uid AS scope_id, address, event_us,
        hour_bucket
    FROM items
    WHERE pod_uid IS NOT NULL
    UNION ALL
    SELECT item_id, 2 AS rung, cluster, 'node' AS scope, node AS scope_id, address, event_us,
        hour_bucket
    FROM items
    WHERE node IS NOT NULL
    UNION ALL
    SELECT item_id, 3 AS rung, cluster, 'cluster' AS scope, cluster AS scope_id, address, event_us,
        hour_bucket
    FROM items
),

live AS (
    SELECT a.item_id, a.rung, b.name, b.canonical_name, b.answer_us
    FROM asked AS a
    INNER JOIN name_match_hours AS b
        ON a.cluster = b.cluster
        AND a.scope = b.scope
        AND a.scope_id = b.scope_id
        AND a.address = b.address
        AND a.hour_bucket = b.hour_bucket
        AND a.event_us >= b.live_from_us
        AND a.event_us < b.live_until_us
),

best AS (
    SELECT item_id, MIN(rung) AS rung
    FROM live
    GROUP BY item_id
),

named AS (
    SELECT
        l.item_id,
        l.rung,
        LIST_SORT(LIST(DISTINCT l.name)) AS names,
        LIST(DISTINCT l.canonical_name) FILTER (WHERE l.canonical_name IS NOT NULL)
            AS canonical_names,
        MAX(l.answer_us) AS answer_us
    FROM live AS l
    INNER JOIN best AS b ON l.item_id = b.item_id AND l.rung = b.rung
    GROUP BY l.item_id, l.rung
),

-- Addresses that stood for several names in the cluster, live or not. What other pods asked says
-- nothing of which of them a client meant.
known AS (
    SELECT DISTINCT cluster, address, name
    FROM name_bindings
    WHERE scope = 'cluster' AND address IN (SELECT address FROM name_input)
),

numbered AS (
    SELECT
        cluster,
        address,
        name,
        ROW_NUMBER() OVER (PARTITION BY cluster, address ORDER BY name) AS place,
        COUNT(*) OVER (PARTITION BY cluster, address) AS name_count
    FROM known
),

shared AS (
    SELECT cluster, address, LIST_SORT(LIST(name)) AS names
    FROM numbered
    WHERE name_count > 1 AND place <= CAST($most AS BIGINT)
    GROUP BY cluster, address
),

judged AS (
    SELECT
        n.item_id,
        n.rung,
        COALESCE(s.names, n.names) AS names,
        n.canonical_names,
        n.answer_us
    FROM named AS n
    INNER JOIN items AS i ON n.item_id = i.item_id
    LEFT JOIN shared AS s
        ON n.rung = 3 AND i.cluster = s.cluster AND i.address = s.address
)

SELECT
    item_id,
    CASE WHEN LEN(names) = 1 THEN names[1] END AS name,
    CASE WHEN LEN(names) = 1 AND LEN(canonical_names) = 1 THEN canonical_names[1] END
        AS canonical_name,
    CASE
        WHEN LEN(names) > 1 THEN 'ambiguous'
        WHEN rung = 1 THEN 'dns_pod'
        WHEN rung = 2 THEN 'dns_node'
        ELSE 'dns_cluster'
    END AS name_kind,
    CASE WHEN LEN(names) = 1 THEN make_timestamptz(answer_us) END AS answer_at,
    CASE WHEN LEN(names) > 1 THEN names END AS candidate_names
FROM judged
