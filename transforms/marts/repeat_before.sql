-- What was fetched of a content on the days before, summed up: only the sum and the latest fetch
-- count.
-- Grain: one thing, content, scope and place.
-- Reads: repeat_scoped.
SELECT
    wanted_number, scope, scope_key, content,
    SUM(bytes) AS bytes,
    MAX(
        STRUCT_PACK(
            us := start_us, id := transfer_id, run := run_uuid, node := node_key,
            zone := reader_zone
        )
    ) FILTER (WHERE has_read) AS latest
FROM repeat_scoped
WHERE is_before
GROUP BY wanted_number, scope, scope_key, content
