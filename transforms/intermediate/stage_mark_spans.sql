-- Activities that marks bound, within the run of the container that they are of.
-- An end without a mark of its start goes back by the time that it states. A start without an end
-- lasts until the next one of the same activity; else what came behind its last mark is `unknown`.
-- Grain: one activity of one run of a container.
-- Reads: stage_mark_points, stage_runs.
WITH paired AS (
    SELECT
        *,
        MAX(CASE WHEN phase = 'start' THEN mark_us END) OVER before AS start_before_us,
        MAX(CASE WHEN phase = 'end' THEN mark_us END) OVER before AS end_before_us,
        MIN(CASE WHEN phase = 'start' THEN mark_us END) OVER behind AS start_behind_us,
        MIN(CASE WHEN phase = 'end' THEN mark_us END) OVER behind AS end_behind_us
    FROM stage_mark_points
    WHERE class IS NOT NULL
    WINDOW
        before AS (
            PARTITION BY pod_uid, container, activity
            ORDER BY
                mark_us, phase DESC, elapsed_us, resource, error_type, record_id, row_index
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        behind AS (
            PARTITION BY pod_uid, container, activity
            ORDER BY
                mark_us, phase DESC, elapsed_us, resource, error_type, record_id, row_index
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        )
),

spans AS (
    SELECT
        pod_uid, container, activity, class, resource, error_type,
        CASE
            WHEN start_before_us > end_before_us OR end_before_us IS NULL
                THEN COALESCE(start_before_us, mark_us - elapsed_us, mark_us)
            ELSE COALESCE(mark_us - elapsed_us, mark_us)
        END AS start_us,
        mark_us AS end_us
    FROM paired
    WHERE phase = 'end'
    UNION ALL
    SELECT
        pod_uid, container, activity, class, resource, error_type, mark_us AS start_us,
        start_behind_us AS end_us
    FROM paired
    WHERE
        phase = 'start'
        AND (end_behind_us IS NULL OR start_behind_us < end_behind_us)
    UNION ALL
    SELECT
        pod_uid, container, activity, class, resource, error_type, mark_us AS start_us,
        mark_us AS end_us
    FROM paired
    WHERE phase = 'point' AND class = 'compute'
),

of_runs AS (
    SELECT
        r.pod_uid, r.container, r.start_us AS run_us, r.end_us AS run_end_us, r.exit_code,
        s.activity, s.class, s.resource, s.error_type,
        GREATEST(s.start_us, r.start_us) AS start_us,
        CASE WHEN s.end_us IS NOT NULL THEN LEAST(s.end_us, r.end_us) END AS end_us
    FROM spans AS s
    INNER JOIN stage_runs AS r
        ON s.pod_uid = r.pod_uid
        AND s.container = r.container
        -- The kubelet cuts off what is below a second of a start.
        AND s.start_us >= r.start_us - 1000000
        AND s.start_us <= r.end_us
        AND (r.next_start_us IS NULL OR s.start_us < r.next_start_us)
),

-- Where an activity that never ended gives way to another one.
followed AS (
    SELECT
        o.pod_uid, o.container, o.run_us, o.activity, o.start_us,
        MIN(n.start_us) AS next_us
    FROM of_runs AS o
    INNER JOIN of_runs AS n
        ON o.pod_uid = n.pod_uid
        AND o.container = n.container
        AND o.run_us = n.run_us
        AND o.activity <> n.activity
        AND n.start_us > o.start_us
    WHERE o.end_us IS NULL
    GROUP BY o.pod_uid, o.container, o.run_us, o.activity, o.start_us
),

last_points AS (
    SELECT
        o.pod_uid, o.container, o.run_us, o.activity, o.start_us, MAX(p.mark_us) AS point_us
    FROM of_runs AS o
    INNER JOIN stage_mark_points AS p
        ON o.pod_uid = p.pod_uid
        AND o.container = p.container
        AND o.activity = p.activity
        AND p.phase = 'point'
        AND p.mark_us > o.start_us
        AND p.mark_us <= o.run_end_us
    LEFT JOIN followed AS f
        ON o.pod_uid = f.pod_uid
        AND o.container = f.container
        AND o.run_us = f.run_us
        AND o.activity = f.activity
        AND o.start_us = f.start_us
    WHERE o.end_us IS NULL AND (f.next_us IS NULL OR p.mark_us < f.next_us)
    GROUP BY o.pod_uid, o.container, o.run_us, o.activity, o.start_us
),

-- One that never ended lasts to its last mark; in a container that failed, and logged nothing else,
-- to that failure.
proven AS (
    SELECT
        o.*,
        f.next_us,
        CASE
            WHEN f.next_us IS NULL AND o.exit_code <> 0 THEN o.run_end_us
            ELSE COALESCE(l.point_us, o.start_us)
        END AS proven_us
    FROM of_runs AS o
    LEFT JOIN followed AS f
        ON o.pod_uid = f.pod_uid
        AND o.container = f.container
        AND o.run_us = f.run_us
        AND o.activity = f.activity
        AND o.start_us = f.start_us
    LEFT JOIN last_points AS l
        ON o.pod_uid = l.pod_uid
        AND o.container = l.container
        AND o.run_us = l.run_us
        AND o.activity = l.activity
        AND o.start_us = l.start_us
)

SELECT
    pod_uid, container, run_us, activity, class, resource, error_type, start_us,
    COALESCE(end_us, proven_us) AS end_us,
    end_us IS NOT NULL OR proven_us < run_end_us AS is_ended
FROM proven
UNION ALL
SELECT
    pod_uid, container, run_us, activity, 'unknown' AS class, CAST(NULL AS VARCHAR) AS resource,
    CAST(NULL AS VARCHAR) AS error_type, proven_us AS start_us, next_us AS end_us,
    TRUE AS is_ended
FROM proven
WHERE end_us IS NULL AND next_us > proven_us
