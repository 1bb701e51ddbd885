-- Unbroken chains of Hubble files: a file that begins at most 60 s after another one's rotation,
-- else its last event, goes on with it. Files that grew from another or share a record with it
-- overlap it in time.
-- Grain: one chain of one node and export, from its first to its last event.
-- Reads: coverage_files.
WITH reached AS (
    SELECT
        node, export, export_file_id, first_us, last_us,
        MAX(GREATEST(last_us, rotated_us)) OVER (
            PARTITION BY node, export ORDER BY first_us, last_us, export_file_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_us
    FROM coverage_files
    WHERE first_us IS NOT NULL
),

numbered AS (
    SELECT
        *,
        SUM(CASE WHEN first_us <= reached_us + 60000000 THEN 0 ELSE 1 END) OVER (
            PARTITION BY node, export ORDER BY first_us, last_us, export_file_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS chain
    FROM reached
)

SELECT node, export, chain, MIN(first_us) AS start_us, MAX(last_us) AS end_us
FROM numbered
GROUP BY node, export, chain
