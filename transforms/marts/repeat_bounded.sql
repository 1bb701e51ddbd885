-- Fetches of the day that repeat an earlier one, with the bounds of definitions.md 26.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_judged.
WITH measured AS (
    SELECT
        transfer_id, scope, place_number, max_bytes, possible,
        previous IS NOT NULL AS is_known,
        -- Earlier fetches of the scope go before fetches of an unknown place.
        CASE WHEN previous IS NOT NULL THEN previous ELSE possible END AS earlier,
        CASE
            WHEN size_bytes IS NULL THEN 0
            ELSE
                GREATEST(0, read_before + min_bytes - size_bytes)
                - GREATEST(0, read_before - size_bytes)
        END AS min_repeat_bytes,
        -- Bytes that the log leaves out may have been beyond the object as well.
        CASE
            WHEN size_bytes IS NULL THEN 0
            ELSE
                GREATEST(0, read_before + max_bytes - size_bytes)
                - GREATEST(0, read_before - size_bytes)
        END AS max_own_bytes
    FROM repeat_judged
),

known AS (
    SELECT
        transfer_id, scope, place_number, earlier, is_known, min_repeat_bytes,
        CASE WHEN earlier IS NOT NULL THEN max_bytes ELSE max_own_bytes END
            AS max_repeat_bytes,
        FALSE AS is_unplaced
    FROM measured
    WHERE place_number IS NOT NULL AND (earlier IS NOT NULL OR max_own_bytes > 0)
)

SELECT * FROM known
UNION ALL
-- A fetch of an unknown place may repeat in that scope what it repeats in the fleet.
SELECT
    m.transfer_id, m.scope, NULL AS place_number, k.earlier,
    FALSE AS is_known,
    0 AS min_repeat_bytes,
    k.max_repeat_bytes,
    TRUE AS is_unplaced
FROM measured AS m
INNER JOIN known AS k ON m.transfer_id = k.transfer_id AND k.scope = 'fleet'
WHERE m.place_number IS NULL
