-- What of the sums lies before the look-back of each read: only reads of the first day that the
-- look-back touches can be inside for one read and outside for another.
-- Grain: one read of the day and scope with such bytes.
-- Reads: repeat_told, repeat_day.
-- Parameters: $look_back_us.
WITH edge AS (
    SELECT start_date, provider, object_id, scope, scope_key, size_class, start_us, bytes
    FROM repeat_told
    WHERE start_us < epoch_us(CAST(start_date AS TIMESTAMP)) + 86400000000 - $look_back_us
),

touched AS (
    SELECT DISTINCT start_date, provider, object_id, scope, scope_key FROM edge
),

moments AS (
    SELECT
        start_date, provider, object_id, scope, scope_key, size_class,
        start_us AS moment_us, bytes,
        CAST(NULL AS VARCHAR) AS transfer_id
    FROM edge
    UNION ALL
    SELECT
        d.start_date, d.provider, d.object_id, d.scope, d.scope_key, d.size_class,
        d.start_us - $look_back_us AS moment_us,
        0 AS bytes,
        d.transfer_id
    FROM repeat_day AS d
    INNER JOIN touched AS t
        ON d.start_date = t.start_date
        AND d.provider = t.provider
        AND d.object_id = t.object_id
        AND d.scope = t.scope
        AND d.scope_key = t.scope_key
),

summed AS (
    SELECT
        *,
        SUM(bytes) OVER in_place AS any_bytes,
        SUM(CASE WHEN size_class IS NOT NULL THEN bytes ELSE 0 END) OVER in_place AS sized_bytes,
        SUM(bytes) OVER of_size AS same_bytes
    FROM moments
    WINDOW
        in_place AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        of_size AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key, size_class
            ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)

SELECT start_date, scope, transfer_id, any_bytes, sized_bytes, same_bytes
FROM summed
WHERE transfer_id IS NOT NULL
