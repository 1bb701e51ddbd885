-- One name that stood for one address, for one pod, node or cluster, over one interval.
-- Grain: scope, scope id, address, name, start.
-- Reads: name_binding_answers, match_output, pod_intervals (for host-network pods).
-- Parameters: $cluster, $day_start, $day_end.
WITH host_network AS (
    SELECT DISTINCT pod_uid FROM pod_intervals WHERE host_network
),

-- A resolver cache of a node asks for all of the node's pods.
judged AS (
    SELECT
        a.*,
        m.match_kind, m.pod_uid, m.node AS matched_node,
        COALESCE(
            a.client_address LIKE '169.254.%' OR a.client_address LIKE '127.%'
            OR a.client_address = '::1' OR REGEXP_MATCHES(a.client_address, '^fe[89ab][0-9a-f]:'),
            FALSE
        ) AS is_link_local,
        m.match_kind = 'node' OR h.pod_uid IS NOT NULL AS is_host_network
    FROM name_binding_answers AS a
    INNER JOIN match_output AS m ON a.lookup_id = m.item_id
    LEFT JOIN host_network AS h ON m.pod_uid = h.pod_uid
),

scoped AS (
    SELECT
        *,
        CASE WHEN is_link_local THEN node WHEN is_host_network THEN matched_node END
            AS asking_node,
        CASE WHEN NOT is_link_local AND NOT is_host_network THEN pod_uid END AS asking_pod
    FROM judged
),

owned AS (
    SELECT
        CASE
            WHEN asking_node IS NOT NULL THEN 'node'
            WHEN asking_pod IS NOT NULL THEN 'pod'
            ELSE 'cluster'
        END AS scope,
        COALESCE(asking_node, asking_pod, CAST($cluster AS VARCHAR)) AS scope_id,
        address, name, query_type, source_format, event_at, canonical_name, ttl_seconds,
        client_address, match_kind, lookup_id,
        epoch_us(event_at) - 2000000 AS start_us,
        epoch_us(event_at) + GREATEST(COALESCE(ttl_seconds, 0), 60) * 1000000 AS end_us,
        epoch_us(event_at) // 86400000000 AS day_number
    FROM scoped
),

-- Islands: answers of one UTC day whose bindings overlap.
marked AS (
    SELECT
        *,
        CASE
            WHEN start_us <= MAX(end_us) OVER (
                PARTITION BY scope, scope_id, address, name, day_number
                ORDER BY event_at, lookup_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0
            ELSE 1
        END AS begins
    FROM owned
),

numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY scope, scope_id, address, name, day_number
            ORDER BY event_at, lookup_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM marked
),

-- One look-up that several sources saw: same client, type and answer, no more than 2 s apart.
paused AS (
    SELECT
        *,
        CASE
            WHEN epoch_us(event_at) - LAG(epoch_us(event_at)) OVER asked <= 2000000 THEN 0
            ELSE 1
        END AS pauses
    FROM numbered
    WINDOW asked AS (
        PARTITION BY
            scope, scope_id, address, name, day_number, island, query_type,
            CASE WHEN scope = 'pod' THEN NULL ELSE client_address END
        ORDER BY event_at, lookup_id
    )
),

bursts AS (
    SELECT
        *,
        SUM(pauses) OVER (
            PARTITION BY
                scope, scope_id, address, name, day_number, island, query_type,
                CASE WHEN scope = 'pod' THEN NULL ELSE client_address END
            ORDER BY event_at, lookup_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS burst
    FROM paused
),

counts_per_source AS (
    SELECT
        scope, scope_id, address, name, day_number, island, query_type,
        CASE WHEN scope = 'pod' THEN NULL ELSE client_address END AS client, burst,
        source_format, COUNT(*) AS answers
    FROM bursts
    GROUP BY ALL
),

counts_per_burst AS (
    SELECT
        scope, scope_id, address, name, day_number, island, query_type, client, burst,
        MAX(answers) AS answers
    FROM counts_per_source
    GROUP BY ALL
),

answer_counts AS (
    SELECT
        scope, scope_id, address, name, day_number, island,
        CAST(SUM(answers) AS BIGINT) AS answer_count
    FROM counts_per_burst
    GROUP BY ALL
),

bindings AS (
    SELECT
        scope, scope_id, address, name, day_number, island,
        MIN(start_us) AS start_us,
        MAX(end_us) AS end_us,
        MIN(event_at) AS first_answer_at,
        MAX(ttl_seconds) AS ttl_seconds,
        ARG_MAX(canonical_name, {'answered_at': event_at, 'name': canonical_name})
            FILTER (WHERE canonical_name IS NOT NULL) AS canonical_name,
        -- The weakest rung counts (definitions.md 24).
        ARG_MAX(
            match_kind,
            LIST_POSITION(
                [
                    'uid', 'name_window', 'address_window', 'node', 'ambiguous', 'conflict',
                    'none'
                ],
                match_kind
            )
        ) AS client_match_kind,
        LIST_SORT(LIST(DISTINCT source_format)) AS source_formats
    FROM numbered
    GROUP BY ALL
)

SELECT
    row_id([
        id_text($cluster), id_text(b.scope), id_text(b.scope_id), id_text(b.address),
        id_text(b.name), CAST(b.start_us AS VARCHAR)
    ]) AS name_binding_id,
    CAST($cluster AS VARCHAR) AS cluster,
    b.scope,
    b.scope_id,
    b.address,
    b.name,
    make_timestamptz(b.start_us) AS start_at,
    b.canonical_name,
    make_timestamptz(
        LEAST(b.end_us, epoch_us(CAST($day_end AS TIMESTAMPTZ)))
    ) AS end_at,
    b.ttl_seconds,
    CASE
        WHEN b.day_number = epoch_us(CAST($day_start AS TIMESTAMPTZ)) // 86400000000
            THEN c.answer_count
        ELSE 0
    END AS answer_count,
    b.first_answer_at,
    b.client_match_kind,
    b.source_formats
FROM bindings AS b
INNER JOIN answer_counts AS c
    ON b.scope = c.scope
    AND b.scope_id = c.scope_id
    AND b.address = c.address
    AND b.name = c.name
    AND b.day_number = c.day_number
    AND b.island = c.island
WHERE
    b.start_us < epoch_us(CAST($day_end AS TIMESTAMPTZ))
    AND b.end_us > epoch_us(CAST($day_start AS TIMESTAMPTZ))
