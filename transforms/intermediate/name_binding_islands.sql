-- Answers of one key in islands: their bindings overlap or touch.
-- Grain: one look-up and address.
-- Reads: name_binding_owners, name_binding_keys.
WITH keyed AS (
    SELECT
        k.key_id, k.has_several_sources,
        o.client, o.query_type, o.source_format, o.canonical_name, o.ttl_seconds,
        o.match_ordinal, o.event_us, o.end_us
    FROM name_binding_owners AS o
    INNER JOIN name_binding_keys AS k
        ON o.scope = k.scope
        AND o.scope_id = k.scope_id
        AND o.address = k.address
        AND o.name = k.name
        AND o.day_number = k.day_number
),

marked AS (
    SELECT
        *,
        CASE
            WHEN event_us - 2000000 <= MAX(end_us) OVER (
                PARTITION BY key_id ORDER BY event_us
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0
            ELSE 1
        END AS begins
    FROM keyed
)

SELECT
    *,
    SUM(begins) OVER (
        PARTITION BY key_id ORDER BY event_us
        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS island
FROM marked
