-- What of the sums lies before the look-back of each fetch: only fetches of the first day that the
-- look-back touches can be inside for one fetch and outside for another.
-- Grain: one fetch of the day and scope with such bytes.
-- Reads: repeat_scoped, repeat_day, repeat_wanted.
-- Parameters: $look_back_us.
WITH edge AS (
    SELECT s.wanted_number, s.scope, s.scope_key, s.content, s.start_us, s.bytes
    FROM repeat_scoped AS s
    INNER JOIN repeat_wanted AS w ON s.wanted_number = w.wanted_number
    WHERE
        s.is_before
        AND s.start_us
            < epoch_us(CAST(w.start_date AS TIMESTAMP)) + 86400000000 - CAST($look_back_us AS BIGINT)
),

touched AS (
    SELECT DISTINCT wanted_number, scope, scope_key, content FROM edge
),

moments AS (
    SELECT
        wanted_number, scope, scope_key, content, start_us AS moment_us, bytes,
        CAST(NULL AS VARCHAR) AS transfer_id
    FROM edge
    UNION ALL
    SELECT
        d.wanted_number, d.scope, d.scope_key, d.content,
        d.start_us - CAST($look_back_us AS BIGINT) AS moment_us,
        0 AS bytes,
        d.transfer_id
    FROM repeat_day AS d
    INNER JOIN touched AS t
        ON d.wanted_number = t.wanted_number
        AND d.scope = t.scope
        AND d.scope_key = t.scope_key
        AND d.content = t.content
),

summed AS (
    SELECT
        *,
        SUM(bytes) OVER (
            PARTITION BY wanted_number, scope, scope_key, content ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS old_bytes
    FROM moments
)

SELECT wanted_number, scope, transfer_id, old_bytes AS bytes
FROM summed
WHERE transfer_id IS NOT NULL
