-- What was read of an object on the days before, over all stated sizes.
-- Grain: one object, scope and place, per day on which a read of the day began.
-- Reads: repeat_before.
SELECT
    start_date, provider, object_id, scope, scope_key,
    SUM(bytes) AS any_bytes,
    SUM(CASE WHEN size_class IS NOT NULL THEN bytes ELSE 0 END) AS sized_bytes,
    MAX(latest) AS latest_any,
    MAX(latest) FILTER (WHERE size_class IS NULL) AS latest_unsized
FROM repeat_before
GROUP BY start_date, provider, object_id, scope, scope_key
