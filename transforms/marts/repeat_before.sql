-- What was read of an object on the days before, summed up: only the sum and the latest read count.
-- Grain: one object, scope, place and stated size, per day on which a read of the day began.
-- Reads: repeat_told.
SELECT
    start_date, provider, object_id, scope, scope_key, size_class,
    SUM(bytes) AS bytes,
    MAX(STRUCT_PACK(us := start_us, id := transfer_id, run := run_uuid)) AS latest
FROM repeat_told
WHERE is_before
GROUP BY start_date, provider, object_id, scope, scope_key, size_class
