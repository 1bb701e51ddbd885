-- Disjoint segments of time per key, each with the members that hold the key, cut into hours.
-- A key is an address, a pod name or a pod UID. Its cluster is `*` for items that know none: any
-- cluster may answer. Members are pods (`wide` by widened, `exact` by unwidened intervals) and, of
-- an address, the nodes and host-network pods that have it; written `cluster/UID`, `cluster/node`.
-- Grain: key kind, key, segment, hour bucket.
-- Reads: match_input, pod_match_windows, pod_match_nodes.
-- Parameters: $guard_us (skew guard, microseconds), $from_us and $until_us (nothing outside is
--   matched, so that a wild time cannot make endless buckets).
WITH wanted AS (
    SELECT DISTINCT
        'address' AS key_kind,
        COALESCE(cluster, '*') AS key_cluster,
        '' AS key_namespace,
        address AS key_text
    FROM match_input
    WHERE address IS NOT NULL
    UNION ALL
    SELECT DISTINCT
        'name' AS key_kind,
        COALESCE(cluster, '*') AS key_cluster,
        namespace AS key_namespace,
        pod_name AS key_text
    FROM match_input
    WHERE namespace IS NOT NULL AND pod_name IS NOT NULL
    UNION ALL
    SELECT DISTINCT
        'uid' AS key_kind,
        COALESCE(cluster, '*') AS key_cluster,
        '' AS key_namespace,
        pod_uid AS key_text
    FROM match_input
    WHERE pod_uid IS NOT NULL
),

bounds AS (
    SELECT
        GREATEST(MIN(epoch_us(event_at)), CAST($from_us AS BIGINT)) AS from_us,
        LEAST(MAX(epoch_us(event_at)) + 1, CAST($until_us AS BIGINT)) AS until_us
    FROM match_input
),

claims AS (
    SELECT DISTINCT
        'address' AS key_kind,
        CASE WHEN host_network THEN 'host_pod' ELSE 'pod' END AS member_kind,
        cluster, '' AS key_namespace, address AS key_text,
        cluster || '/' || pod_uid AS member, start_us, end_us
    FROM pod_match_windows
    WHERE address IS NOT NULL
    UNION ALL
    SELECT DISTINCT
        'name' AS key_kind, 'pod' AS member_kind,
        cluster, namespace AS key_namespace, pod_name AS key_text,
        cluster || '/' || pod_uid AS member, life_start_us AS start_us, end_us
    FROM pod_match_windows
    UNION ALL
    SELECT DISTINCT
        'uid' AS key_kind, 'pod' AS member_kind,
        cluster, '' AS key_namespace, pod_uid AS key_text,
        cluster || '/' || pod_uid AS member, life_start_us AS start_us, end_us
    FROM pod_match_windows
    UNION ALL
    SELECT DISTINCT
        'address' AS key_kind, 'node' AS member_kind,
        cluster, '' AS key_namespace, address AS key_text,
        cluster || '/' || node AS member, start_us, end_us
    FROM pod_match_nodes
),

held AS (
    SELECT
        w.key_kind, w.key_cluster, w.key_namespace, w.key_text,
        c.member_kind, c.member, c.start_us, c.end_us
    FROM wanted AS w
    INNER JOIN claims AS c
        ON w.key_kind = c.key_kind
        AND w.key_namespace = c.key_namespace
        AND w.key_text = c.key_text
    WHERE w.key_cluster = '*' OR w.key_cluster = c.cluster
),

edges AS (
    SELECT DISTINCT
        key_kind, key_cluster, key_namespace, key_text,
        UNNEST([
            start_us - CAST($guard_us AS BIGINT), start_us,
            end_us, end_us + CAST($guard_us AS BIGINT)
        ]) AS edge_us
    FROM held
),

spans AS (
    SELECT
        key_kind, key_cluster, key_namespace, key_text,
        edge_us AS segment_start_us,
        LEAD(edge_us) OVER (
            PARTITION BY key_kind, key_cluster, key_namespace, key_text ORDER BY edge_us
        ) AS segment_end_us
    FROM edges
),

segments AS (
    SELECT
        s.key_kind, s.key_cluster, s.key_namespace, s.key_text,
        s.segment_start_us, s.segment_end_us,
        LIST_SORT(LIST(DISTINCT h.member) FILTER (WHERE h.member_kind = 'pod')) AS wide,
        LIST_SORT(
            LIST(DISTINCT h.member) FILTER (
                WHERE
                    h.member_kind = 'pod'
                    AND s.segment_start_us >= h.start_us
                    AND s.segment_start_us < h.end_us
            )
        ) AS exact,
        LIST_SORT(LIST(DISTINCT h.member) FILTER (WHERE h.member_kind = 'node')) AS nodes,
        LIST_SORT(LIST(DISTINCT h.member) FILTER (WHERE h.member_kind = 'host_pod')) AS host_pods
    FROM spans AS s
    INNER JOIN held AS h
        ON s.key_kind = h.key_kind
        AND s.key_cluster = h.key_cluster
        AND s.key_namespace = h.key_namespace
        AND s.key_text = h.key_text
        AND s.segment_start_us >= h.start_us - CAST($guard_us AS BIGINT)
        AND s.segment_start_us < h.end_us + CAST($guard_us AS BIGINT)
    WHERE s.segment_end_us IS NOT NULL
    GROUP BY
        s.key_kind, s.key_cluster, s.key_namespace, s.key_text,
        s.segment_start_us, s.segment_end_us
),

clipped AS (
    SELECT
        s.key_kind, s.key_cluster, s.key_namespace, s.key_text,
        s.wide, s.exact, s.nodes, s.host_pods,
        GREATEST(s.segment_start_us, b.from_us) AS segment_start_us,
        LEAST(s.segment_end_us, b.until_us) AS segment_end_us
    FROM segments AS s
    CROSS JOIN bounds AS b
    WHERE s.segment_end_us > b.from_us AND s.segment_start_us < b.until_us
)

SELECT
    *,
    UNNEST(
        RANGE(segment_start_us // 3600000000, (segment_end_us - 1) // 3600000000 + 1)
    ) AS hour_bucket
FROM clipped
