-- When intervals of Azure's tuples began: numbers are since the flow's last tuple, whichever file holds
-- it, while a row begins where its own tuple could have (`start_at`). A flow that ended has no next
-- tuple: what follows is another flow, which began at some time behind that end.
-- `from_us` leaves out days that did not see the tuple, which is read by those that the row itself
-- meets, and by the one that looks ahead to it.
-- Grain: one direction of a tuple that has one before it.
-- Reads: volume_named.
-- Parameters: $look_back_us, $look_ahead_us.
WITH tuples AS (
    SELECT
        export_file_id, record_index, row_index, is_beginning,
        epoch_us(start_at) AS start_us,
        epoch_us(end_at) AS end_us,
        -- Rows of one instant and state are one tuple, under several rules.
        LAST_VALUE({'at_us': epoch_us(end_at), 'ends': connection_state = 'E'}) OVER (
            PARTITION BY connection, rule_list
            ORDER BY end_at, LIST_POSITION(['B', 'C', 'E'], connection_state)
            GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS last
    FROM volume_named
    WHERE
        source_format = 'azure_flow_log'
        AND temporality = 'delta'
        AND connection_state IN ('B', 'C', 'E')
),

begun AS (
    SELECT
        export_file_id, record_index, row_index, start_us, end_us,
        LEAST(last.at_us, end_us - 1) AS true_from_us
    FROM tuples
    WHERE
        NOT is_beginning
        AND CASE
            WHEN last.ends THEN last.at_us > start_us
            ELSE end_us - last.at_us <= CAST($look_back_us AS BIGINT)
        END
)

SELECT
    export_file_id,
    record_index,
    row_index,
    true_from_us,
    GREATEST(
        true_from_us,
        LEAST(
            start_us,
            (end_us - CAST($look_ahead_us AS BIGINT)) // 86400000000 * 86400000000
        )
    ) AS from_us
FROM begun
