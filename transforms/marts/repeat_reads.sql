-- Reads of the day that moved bytes, and the bytes that each moved on earlier days.
-- Grain: one transfer of the day.
-- Reads: object_transfers (days of the look-back).
-- Parameters: $date.
WITH today AS (
    SELECT
        *,
        CAST(start_at AS DATE) AS start_date,
        epoch_us(start_at) AS start_us,
        CASE WHEN version_id IS NULL THEN object_size_bytes END AS size_class
    FROM object_transfers
    WHERE date = CAST($date AS DATE) AND operation = 'read' AND transferred_bytes > 0
),

earlier_days AS (
    SELECT transfer_id, SUM(transferred_bytes) AS bytes_before
    FROM object_transfers
    WHERE
        date < CAST($date AS DATE)
        AND operation = 'read'
        AND transfer_id IN (
            SELECT transfer_id FROM today WHERE start_date < CAST($date AS DATE)
        )
    GROUP BY transfer_id
)

SELECT t.*, COALESCE(e.bytes_before, 0) AS bytes_before
FROM today AS t
LEFT JOIN earlier_days AS e ON t.transfer_id = e.transfer_id
