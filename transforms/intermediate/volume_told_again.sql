-- Azure's tuples that tell what another one of the same network card tells: of one flow at one instant
-- under another rule, of which that of more bytes counts, or under another rule list. Lists are all
-- told of their flows: where one tells more than half of an interval, or about the same seconds of it,
-- those behind it by name do not count.
-- Grain: one direction of such a tuple.
-- Reads: volume_named, volume_begun.
-- Parameters: $guard_us (by which lists may be written apart).
WITH tuples AS (
    SELECT
        v.connection, v.rule_list, v.action, v.export_file_id, v.record_index, v.row_index,
        COALESCE(b.true_from_us, epoch_us(v.start_at)) AS from_us,
        epoch_us(v.end_at) AS until_us,
        ROW_NUMBER() OVER (
            PARTITION BY v.connection, v.rule_list, v.action, v.end_at, v.connection_state
            ORDER BY v.bytes DESC, v.packets DESC, v.record_id, v.row_index
        ) AS place
    FROM volume_named AS v
    LEFT JOIN volume_begun AS b
        ON v.export_file_id = b.export_file_id
        AND v.record_index = b.record_index
        AND v.row_index = b.row_index
    WHERE v.source_format = 'azure_flow_log' AND v.temporality = 'delta' AND NOT v.is_beginning
),

-- Most flows have one list.
several AS (
    SELECT connection, action
    FROM tuples
    GROUP BY connection, action
    HAVING MIN(rule_list) < MAX(rule_list)
),

listed AS (
    SELECT t.*
    FROM tuples AS t
    INNER JOIN several AS s ON t.connection = s.connection AND t.action = s.action
    WHERE t.place = 1 AND t.rule_list IS NOT NULL
)

SELECT export_file_id, record_index, row_index
FROM tuples
WHERE place > 1
UNION ALL
SELECT t.export_file_id, t.record_index, t.row_index
FROM listed AS t
INNER JOIN listed AS u
    ON t.connection = u.connection
    AND t.action = u.action
    AND t.rule_list > u.rule_list
    AND t.from_us < u.until_us + CAST($guard_us AS BIGINT)
    AND t.until_us > u.from_us - CAST($guard_us AS BIGINT)
GROUP BY t.export_file_id, t.record_index, t.row_index, t.from_us, t.until_us
HAVING 2 * SUM(
    LEAST(t.until_us, u.until_us + CAST($guard_us AS BIGINT))
    - GREATEST(t.from_us, u.from_us - CAST($guard_us AS BIGINT))
) > t.until_us - t.from_us
