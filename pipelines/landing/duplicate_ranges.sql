-- duplicate_ranges: repeated rows as ranges, so that a file that repeats millions is a few rows.
-- Grain: one range of neighbouring rows of one file; a file stands in one part.
-- Reads: duplicates(part_order, row_number, export_file_id, record_index).
-- Parameters: none.
WITH numbered AS (
    SELECT
        export_file_id,
        row_number,
        row_number - ROW_NUMBER() OVER (
            PARTITION BY export_file_id
            ORDER BY row_number
        ) AS island
    FROM duplicates
)

SELECT
    export_file_id,
    CAST(MIN(row_number) AS BIGINT) AS first_row,
    COUNT(*) AS row_count
FROM numbered
GROUP BY export_file_id, island
ORDER BY export_file_id, first_row
