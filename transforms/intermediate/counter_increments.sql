-- Increments with the pod that they belong to.
-- Grain: one interval of one series of one observer that meets the day.
-- Reads: counter_growth, counter_series, match_output, pod_intervals.
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

-- Lives as the day on which an increment starts knows them: the next day must not know better.
lives AS (
    SELECT
        pod_uid,
        epoch_us(CAST(date AS TIMESTAMP)) // 86400000000 AS day_number,
        MIN(epoch_us(created_at)) AS life_from_us,
        CASE
            WHEN BOOL_AND(end_basis IN ('sandbox_teardown', 'finished', 'deleted'))
                THEN MAX(epoch_us(end_at))
        END AS life_until_us
    FROM pod_intervals
    GROUP BY pod_uid, date
),

-- A pod that shows interfaces of nodes is on its node's network, where no export says otherwise.
node_like AS (
    SELECT DISTINCT pod_uid, namespace, pod_name
    FROM counter_series
    WHERE is_node_only AND (pod_uid IS NOT NULL OR pod_name IS NOT NULL)
),

by_uid AS (
    SELECT
        s.series,
        p.node,
        COALESCE(s.namespace, p.namespace) AS namespace,
        COALESCE(s.pod_name, p.pod_name) AS pod_name,
        CASE
            WHEN p.host_network IS NULL AND s.pod_uid IN (SELECT n.pod_uid FROM node_like AS n)
                THEN 'node'
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
        CASE WHEN p.host_network OR n.pod_name IS NOT NULL THEN NULL ELSE m.pod_uid END AS pod_uid,
        COALESCE(m.node, p.node) AS node,
        CASE
            WHEN p.host_network OR n.pod_name IS NOT NULL THEN 'node'
            ELSE m.match_kind
        END AS match_kind
    FROM match_output AS m
    LEFT JOIN pods AS p USING (pod_uid)
    LEFT JOIN node_like AS n
        ON n.pod_uid IS NULL
        AND p.host_network IS NULL
        AND m.item_id.namespace = n.namespace
        AND m.item_id.pod_name = n.pod_name
),

owned AS (
    SELECT
        s.cluster,
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
        s.is_overlay,
        s.direction,
        s.byte_layer,
        g.from_us,
        g.until_us,
        g.bytes,
        g.basis,
        g.is_gap
    FROM counter_growth AS g
    INNER JOIN counter_series AS s USING (series)
    LEFT JOIN by_uid AS u USING (series)
    LEFT JOIN by_name AS n
        ON s.pod_uid IS NULL
        AND s.namespace = n.namespace
        AND s.pod_name = n.pod_name
        AND g.until_us = n.until_us
),

lived AS (
    SELECT
        o.*,
        GREATEST(o.from_us, l.life_from_us) AS lived_from_us,
        LEAST(o.until_us, l.life_until_us) AS lived_until_us
    FROM owned AS o
    LEFT JOIN lives AS l
        ON o.is_gap
        AND o.pod_uid = l.pod_uid
        AND o.from_us // 86400000000 = l.day_number
)

SELECT
    row_id([id_text(cluster), id_text(series_id), id_text(observer), id_text(from_us)])
        AS counter_increment_id,
    cluster,
    series_id,
    observer,
    namespace,
    pod_name,
    pod_uid,
    match_kind,
    node,
    interface,
    is_overlay,
    direction,
    byte_layer,
    make_timestamptz(from_us) AS start_at,
    make_timestamptz(until_us) AS end_at,
    make_timestamptz(CASE WHEN lived_from_us < lived_until_us THEN lived_from_us ELSE from_us END)
        AS spread_start_at,
    make_timestamptz(CASE WHEN lived_from_us < lived_until_us THEN lived_until_us ELSE until_us END)
        AS spread_end_at,
    bytes,
    basis IN (2, 5) AS is_reset,
    is_gap,
    CASE basis
        WHEN 1 THEN 'known_start'
        WHEN 2 THEN 'reset'
        WHEN 3 THEN 'reset_known_start'
        WHEN 4 THEN 'delta_start'
        ELSE 'sample'
    END AS start_basis
FROM lived
