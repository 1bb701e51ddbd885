-- The things that were fetched on the day, numbered, per day on which such a fetch began: what
-- went before is told as it was known at the end of that day.
-- Grain: start_date, provider, object_id.
-- Reads: repeat_fetches.
SELECT
    ROW_NUMBER() OVER (ORDER BY start_date, provider, object_id) AS wanted_number,
    start_date,
    provider,
    object_id,
    BOOL_OR(may_change) AS may_change
FROM repeat_fetches
GROUP BY start_date, provider, object_id
