-- Azure's tuples whose interval begins at a tuple of another file: numbers are since the last tuple of
-- the flow, and a file knows only its own (else five minutes before).
-- Grain: one direction of such a tuple.
-- Reads: volume_named.
WITH told AS (
    SELECT
        export_file_id,
        record_index,
        row_index,
        epoch_us(start_at) AS start_us,
        epoch_us(end_at) AS end_us,
        epoch_us(LAG(end_at) OVER (
            PARTITION BY connection
            ORDER BY end_at, start_at, export_file_id, record_index, row_index
        )) AS before_us
    FROM volume_named
    WHERE source_format = 'azure_flow_log' AND temporality = 'delta'
)

SELECT export_file_id, record_index, row_index, before_us AS begun_us
FROM told
WHERE before_us > start_us AND before_us < end_us
