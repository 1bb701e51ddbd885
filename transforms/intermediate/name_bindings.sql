-- One name that stood for one address, for one pod, node or cluster, over one interval.
-- Grain: scope, scope id, address, name, start.
-- Reads: name_binding_islands, name_binding_keys, name_binding_counts.
-- Parameters: $cluster, $day_start, $day_end.
WITH bindings AS (
    SELECT
        key_id, island,
        MIN(event_us) AS first_us,
        MAX(end_us) AS end_us,
        MAX(ttl_seconds) AS ttl_seconds,
        ARG_MAX(canonical_name, {'answered_us': event_us, 'name': canonical_name})
            FILTER (WHERE canonical_name IS NOT NULL) AS canonical_name,
        -- The weakest rung counts (definitions.md 24).
        MAX(match_ordinal) AS match_ordinal,
        LIST_SORT(LIST(DISTINCT source_format)) AS source_formats
    FROM name_binding_islands
    GROUP BY key_id, island
)

SELECT
    row_id([
        id_text($cluster), id_text(k.scope), id_text(k.scope_id), id_text(k.address),
        id_text(k.name), CAST(b.first_us - 2000000 AS VARCHAR)
    ]) AS name_binding_id,
    CAST($cluster AS VARCHAR) AS cluster,
    k.scope,
    k.scope_id,
    k.address,
    k.name,
    make_timestamptz(b.first_us - 2000000) AS start_at,
    b.canonical_name,
    make_timestamptz(
        LEAST(b.end_us, epoch_us(CAST($day_end AS TIMESTAMPTZ)))
    ) AS end_at,
    b.ttl_seconds,
    CASE
        WHEN k.day_number = epoch_us(CAST($day_start AS TIMESTAMPTZ)) // 86400000000
            THEN c.lookup_count
        ELSE 0
    END AS answer_count,
    make_timestamptz(b.first_us) AS first_answer_at,
    ['uid', 'name_window', 'address_window', 'node', 'ambiguous', 'conflict', 'none'][
        b.match_ordinal
    ] AS client_match_kind,
    b.source_formats
FROM bindings AS b
INNER JOIN name_binding_keys AS k ON b.key_id = k.key_id
INNER JOIN name_binding_counts AS c ON b.key_id = c.key_id AND b.island = c.island
WHERE
    b.first_us - 2000000 < epoch_us(CAST($day_end AS TIMESTAMPTZ))
    AND b.end_us > epoch_us(CAST($day_start AS TIMESTAMPTZ))
