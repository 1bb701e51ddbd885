-- How each object of an expected output stands: by the last event of the run, and of anyone.
-- Grain: one object of one output.
-- Reads: output_events.
WITH ranked AS (
    SELECT
        *,
        -- Of events at one instant a success is the later one.
        {
            'us': event_us,
            'place': CASE what WHEN 'failed' THEN 0 WHEN 'aborted' THEN 1 WHEN 'deleted' THEN 2 ELSE 3 END
        } AS place
    FROM output_events
)

SELECT
    run_output_id,
    object_path,
    ARG_MAX(what, place) FILTER (WHERE is_own) AS own_state,
    MAX(event_us) FILTER (WHERE is_own AND what = 'written') AS written_us,
    MAX(event_us) FILTER (WHERE is_own AND what <> 'deleted') AS tried_us,
    ARG_MAX(error, place) FILTER (WHERE is_own AND what = 'failed') AS error,
    ARG_MAX(object_size_bytes, place) FILTER (WHERE is_own AND what = 'written')
        AS object_size_bytes,
    MAX(event_us) FILTER (WHERE what = 'deleted') AS deleted_us,
    MIN(transfer_id, 10) AS transfer_ids
FROM ranked
GROUP BY run_output_id, object_path
