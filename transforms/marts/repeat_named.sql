-- Whose the fetches are that numbers of repeat_summed stand for.
-- Grain: fetch_number.
-- Reads: repeat_told, repeat_summed.
SELECT fetch_number, start_us, transfer_id, run_uuid, node_key, reader_zone
FROM repeat_told
WHERE fetch_number IN (
    SELECT fetch_number FROM repeat_summed
    UNION
    SELECT latest FROM repeat_summed WHERE latest IS NOT NULL
    UNION
    SELECT lost FROM repeat_summed WHERE lost IS NOT NULL
    UNION
    SELECT loose FROM repeat_summed WHERE loose IS NOT NULL
)
QUALIFY
    ROW_NUMBER() OVER (
        PARTITION BY fetch_number ORDER BY has_read DESC, run_uuid, node_key, reader_zone
    ) = 1
