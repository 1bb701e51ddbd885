-- Fetches of the day that repeat an earlier one, numbered, with the texts behind their numbers.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_bounded, repeat_named, repeat_places.
-- Parameters: $date.
SELECT
    ROW_NUMBER() OVER () AS repeat_number,
    CAST($date AS DATE) AS built_date,
    b.* EXCLUDE (place_number, earlier),
    p.place AS scope_key,
    CASE
        WHEN b.earlier IS NOT NULL
            THEN STRUCT_PACK(
                us := n.start_us, id := n.transfer_id, run := n.run_uuid, node := n.node_key,
                zone := n.reader_zone
            )
    END AS earlier
FROM repeat_bounded AS b
LEFT JOIN repeat_named AS n ON b.earlier = n.fetch_number
LEFT JOIN repeat_places AS p ON b.place_number = p.place_number
