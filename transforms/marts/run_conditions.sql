-- The newest condition of each run before the end of the day.
-- Grain: one run.
-- Reads: run_statuses.
-- Parameters: $day_end.
WITH ordered AS (
    SELECT
        run_uuid, status, event_at,
        MIN(event_at) OVER (PARTITION BY run_uuid) AS first_at,
        ROW_NUMBER() OVER (
            PARTITION BY run_uuid
            ORDER BY event_at DESC, ordinal DESC, record_id DESC, export_file_id DESC,
                record_index DESC, row_index DESC
        ) AS place
    FROM run_statuses
    WHERE event_at < CAST($day_end AS TIMESTAMPTZ)
)

SELECT run_uuid, status, event_at, first_at
FROM ordered
WHERE place = 1
