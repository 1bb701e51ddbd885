-- Days without a build in which earlier attempts of a run may hide, in words.
-- Grain: one run of the day.
-- Reads: pod_interval_pods, run_versions.
-- Parameters: $span_start, $day_end, $gap_starts and $gap_ends (the runs of days
--   before the built day that are not built, both inclusive; the first one starts at 0001-01-01).
WITH gaps AS (
    SELECT
        UNNEST(CAST($gap_starts AS DATE[])) AS first_day,
        UNNEST(CAST($gap_ends AS DATE[])) AS last_day
),

runs AS (
    SELECT DISTINCT run_uuid FROM pod_interval_pods WHERE run_uuid IS NOT NULL
),

created AS (
    SELECT run_uuid, CAST(MIN(created_at) AS DATE) AS first_day
    FROM run_versions
    WHERE
        observed_at >= CAST($span_start AS TIMESTAMPTZ)
        AND created_at < CAST($day_end AS TIMESTAMPTZ)
    GROUP BY run_uuid
),

hidden AS (
    SELECT
        r.run_uuid,
        GREATEST(g.first_day, c.first_day) AS first_day,
        g.last_day
    FROM runs AS r
    CROSS JOIN gaps AS g
    LEFT JOIN created AS c ON r.run_uuid = c.run_uuid
    WHERE c.first_day IS NULL OR g.last_day >= c.first_day
)

SELECT
    r.run_uuid,
    COALESCE(
        'not built: ' || STRING_AGG(
            CASE
                WHEN h.first_day = DATE '0001-01-01' THEN 'to ' || CAST(h.last_day AS VARCHAR)
                WHEN h.first_day = h.last_day THEN CAST(h.last_day AS VARCHAR)
                ELSE CAST(h.first_day AS VARCHAR) || ' to ' || CAST(h.last_day AS VARCHAR)
            END,
            ', '
            ORDER BY h.first_day
        ),
        'complete'
    ) AS attempt_basis
FROM runs AS r
LEFT JOIN hidden AS h ON r.run_uuid = h.run_uuid
GROUP BY r.run_uuid
