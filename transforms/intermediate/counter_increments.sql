-- Increments with the pod that they belong to.
-- Grain: one interval of one series of one observer that meets the day.
-- Reads: counter_growth, counter_series, match_output, pod_intervals.
-- Parameters: $cluster.
WITH pods AS (
    SELECT
        pod_uid,
        ARG_MAX(namespace, date) AS namespace,
        ARG_MAX(pod_name, date) AS pod_name,
        ARG_MAX(node, date) AS node,
        BOOL_OR(host_network) AS host_network
    FROM pod_intervals
    GROUP BY pod_uid
),

by_uid AS (
    SELECT
        s.series,
        p.node,
        COALESCE(s.namespace, p.namespace) AS namespace,
        COALESCE(s.pod_name, p.pod_name) AS pod_name,
        CASE
            WHEN p.pod_uid IS NULL THEN 'none'
            WHEN s.namespace <> p.namespace OR s.pod_name <> p.pod_name THEN 'conflict'
            WHEN p.host_network THEN 'node'
            ELSE 'uid'
        END AS match_kind
    FROM counter_series AS s
    LEFT JOIN pods AS p USING (pod_uid)
    WHERE s.pod_uid IS NOT NULL
),

by_name AS (
    SELECT
        m.item_id.namespace AS namespace,
        m.item_id.pod_name AS pod_name,
        m.item_id.until_us AS until_us,
        CASE WHEN p.host_network IS NOT TRUE THEN m.pod_uid END AS pod_uid,
        COALESCE(m.node, p.node) AS node,
        CASE WHEN p.host_network THEN 'node' ELSE m.match_kind END AS match_kind
    FROM match_output AS m
    LEFT JOIN pods AS p USING (pod_uid)
),

matched AS (
    SELECT
        s.series_id,
        s.observer,
        COALESCE(u.namespace, s.namespace) AS namespace,
        COALESCE(u.pod_name, s.pod_name) AS pod_name,
        CASE
            WHEN u.match_kind IN ('uid', 'none') THEN s.pod_uid
            WHEN u.match_kind IS NULL THEN n.pod_uid
        END AS pod_uid,
        COALESCE(
            u.match_kind,
            n.match_kind,
            CASE WHEN s.pod_name IS NULL AND s.node IS NOT NULL THEN 'node' ELSE 'none' END
        ) AS match_kind,
        COALESCE(s.node, u.node, n.node) AS node,
        s.interface,
        s.direction,
        s.byte_layer,
        g.from_us,
        g.until_us,
        g.bytes,
        g.is_reset,
        g.is_gap,
        g.start_basis
    FROM counter_growth AS g
    INNER JOIN counter_series AS s USING (series)
    LEFT JOIN by_uid AS u USING (series)
    LEFT JOIN by_name AS n
        ON s.pod_uid IS NULL
        AND s.namespace = n.namespace
        AND s.pod_name = n.pod_name
        AND g.until_us = n.until_us
)

SELECT
    row_id([
        id_text(CAST($cluster AS VARCHAR)), id_text(series_id), id_text(observer), id_text(from_us)
    ]) AS counter_increment_id,
    CAST($cluster AS VARCHAR) AS cluster,
    series_id,
    observer,
    namespace,
    pod_name,
    pod_uid,
    match_kind,
    node,
    interface,
    direction,
    byte_layer,
    make_timestamptz(from_us) AS start_at,
    make_timestamptz(until_us) AS end_at,
    bytes,
    is_reset,
    is_gap,
    start_basis
FROM matched
