-- How many look-ups each island holds, one that several sources saw counted once.
-- Where several sources saw a key, answers to one client and query type that follow each other by
-- at most 2 s are a burst, which counts as many as the source that saw most of it.
-- Grain: one island.
-- Reads: name_binding_islands.
WITH paused AS (
    SELECT
        key_id, island, client, query_type, source_format, event_us,
        CASE
            WHEN event_us - LAG(event_us) OVER (
                PARTITION BY key_id, client, query_type ORDER BY event_us
            ) <= 2000000 THEN 0
            ELSE 1
        END AS begins
    FROM name_binding_islands
    WHERE has_several_sources
),

bursts AS (
    SELECT
        key_id, island, client, query_type, source_format,
        SUM(begins) OVER (
            PARTITION BY key_id, client, query_type ORDER BY event_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS burst
    FROM paused
),

per_source AS (
    SELECT key_id, island, client, query_type, burst, source_format, COUNT(*) AS lookups
    FROM bursts
    GROUP BY key_id, island, client, query_type, burst, source_format
),

per_burst AS (
    SELECT key_id, island, client, query_type, burst, MAX(lookups) AS lookups
    FROM per_source
    GROUP BY key_id, island, client, query_type, burst
)

SELECT key_id, island, CAST(SUM(lookups) AS BIGINT) AS lookup_count
FROM per_burst
GROUP BY key_id, island
UNION ALL
SELECT key_id, island, COUNT(*) AS lookup_count
FROM name_binding_islands
WHERE NOT has_several_sources
GROUP BY key_id, island
