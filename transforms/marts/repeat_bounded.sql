-- Fetches of the day that repeat an earlier one, with the bounds of definitions.md 26. Bytes that
-- ranges show to be read again are so for certain, and are no new bytes of the scope.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_judged.
WITH measured AS (
    SELECT
        transfer_id, scope, place_number, max_bytes, possible, is_exact,
        previous IS NOT NULL AS is_known,
        -- Earlier fetches of the scope go before fetches of an unknown place.
        CASE WHEN previous IS NOT NULL THEN previous ELSE possible END AS earlier,
        again_bytes
        + CASE
            WHEN size_bytes IS NULL THEN 0
            ELSE
                GREATEST(0, read_before + (min_bytes - again_bytes) - size_bytes)
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

possible_most AS (
    SELECT
        *,
        CASE
            WHEN is_exact THEN min_repeat_bytes
            WHEN earlier IS NOT NULL THEN max_bytes
            ELSE max_own_bytes
        END AS most
    FROM measured
),

fleet AS (
    SELECT transfer_id, earlier, is_exact, most
    FROM possible_most
    WHERE scope = 'fleet'
),

known AS (
    SELECT
        p.transfer_id, p.scope, p.place_number, p.earlier, p.is_known, p.min_repeat_bytes,
        -- Nothing is read again in a part of the fleet that is not so in the fleet.
        CASE WHEN f.is_exact THEN LEAST(p.most, f.most) ELSE p.most END AS max_repeat_bytes,
        FALSE AS is_unplaced
    FROM possible_most AS p
    INNER JOIN fleet AS f ON p.transfer_id = f.transfer_id
    WHERE p.place_number IS NOT NULL AND (p.earlier IS NOT NULL OR p.max_own_bytes > 0)
)

-- An earlier fetch of which this one read nothing again is no repeat.
SELECT * FROM known
WHERE COALESCE(max_repeat_bytes > 0, TRUE)
UNION ALL
-- A fetch of an unknown place may repeat in that scope what it repeats in the fleet.
SELECT
    m.transfer_id, m.scope, NULL AS place_number, f.earlier,
    FALSE AS is_known,
    0 AS min_repeat_bytes,
    f.max_repeat_bytes,
    TRUE AS is_unplaced
FROM measured AS m
INNER JOIN known AS f
    ON m.transfer_id = f.transfer_id
    AND f.scope = 'fleet'
    AND COALESCE(f.max_repeat_bytes > 0, TRUE)
WHERE m.place_number IS NULL
