-- What tells each part that a stage was cut into because of something that was tried.
-- Grain: one part with evidence.
-- Reads: wait_tiles, wait_islands.
WITH met AS (
    SELECT t.stage_id, t.number, i.*
        EXCLUDE (stage_id, number)
    FROM wait_tiles AS t
    INNER JOIN wait_islands AS i ON t.island = i.island
    WHERE t.island > 0
    UNION ALL
    SELECT t.stage_id, t.number, i.*
        EXCLUDE (stage_id, number)
    FROM wait_tiles AS t
    INNER JOIN wait_islands AS i
        ON t.stage_id = i.stage_id
        AND t.rank = i.rank
        AND t.start_us < i.end_us
        AND t.end_us > i.start_us
    WHERE t.island = 0
)

SELECT
    stage_id, number,
    MIN(cause) AS cause,
    CASE WHEN COUNT(*) = 1 THEN MIN(resource_id) END AS resource_id,
    ARG_MIN(first_error, {'us': error_us, 'island': island})
        FILTER (WHERE first_error IS NOT NULL) AS first_error,
    MAX(match_rung) AS match_rung,
    MAX(container_rung) AS container_rung,
    LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(sources)))) AS sources,
    LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(evidence_ids))))[1:10] AS evidence_ids
FROM met
GROUP BY stage_id, number
