-- What main containers did while they ran: the stages that marks tell, the last begun one where
-- several overlap and none of somebody's session where the job tells one, else compute (interactive, of a service), and startup before the first sign that
-- a container that logs its stages got to work.
-- Grain: one stage of one run of a container.
-- Reads: stage_runs, stage_lives, stage_mark_spans.
WITH runs AS (
    SELECT r.*, l.is_interactive
    FROM stage_runs AS r
    INNER JOIN stage_lives AS l ON r.pod_uid = l.pod_uid
    WHERE r.container_role = 'main'
),

firsts AS (
    SELECT
        pod_uid, container, run_us,
        COALESCE(
            MIN(start_us) FILTER (WHERE class = 'compute'),
            MIN(start_us) FILTER (WHERE class IN ('download', 'startup'))
        ) AS work_us
    FROM stage_mark_spans
    GROUP BY pod_uid, container, run_us
),

begun AS (
    SELECT
        r.*,
        CASE WHEN r.is_interactive THEN r.start_us ELSE COALESCE(f.work_us, r.start_us) END
            AS work_us
    FROM runs AS r
    LEFT JOIN firsts AS f
        ON r.pod_uid = f.pod_uid AND r.container = f.container AND r.start_us = f.run_us
),

marked AS (
    SELECT * FROM stage_mark_spans WHERE class <> 'compute' AND end_us > start_us
),

edges AS (
    SELECT pod_uid, container, start_us AS run_us, start_us AS us, start_basis AS basis FROM begun
    UNION ALL
    SELECT pod_uid, container, start_us AS run_us, end_us AS us, end_basis AS basis FROM begun
    UNION ALL
    SELECT pod_uid, container, start_us AS run_us, work_us AS us, 'mark' AS basis
    FROM begun
    WHERE work_us > start_us AND work_us < end_us
    UNION ALL
    SELECT m.pod_uid, m.container, m.run_us, m.start_us AS us, 'mark' AS basis FROM marked AS m
    UNION ALL
    SELECT m.pod_uid, m.container, m.run_us, m.end_us AS us, 'mark' AS basis
    FROM marked AS m
    WHERE m.is_ended
),

-- Where a mark and the container's own start or end fall together, the better proof counts.
points AS (
    SELECT
        pod_uid, container, run_us, us,
        ARG_MIN(basis, LIST_POSITION(
            ['terminated', 'event', 'condition', 'deletion', 'mark', 'polyaxon', 'last_seen'], basis
        )) AS basis
    FROM edges
    GROUP BY pod_uid, container, run_us, us
),

pieces AS (
    SELECT
        *,
        LEAD(us) OVER run AS end_us,
        LEAD(basis) OVER run AS end_basis
    FROM points
    WINDOW run AS (PARTITION BY pod_uid, container, run_us ORDER BY us)
),

covered AS (
    SELECT
        p.pod_uid, p.container, p.run_us, p.us AS start_us, p.basis AS start_basis, p.end_us,
        p.end_basis,
        ARG_MAX(
            {'class': m.class, 'resource': m.resource, 'error_type': m.error_type},
            {
                -- What the job says that it does goes before somebody's session beside it.
                'is_own': m.class <> 'interactive', 'us': m.start_us, 'activity': m.activity, 'class': m.class,
                'resource': COALESCE(m.resource, ''), 'error_type': COALESCE(m.error_type, '')
            }
        ) AS mark
    FROM pieces AS p
    LEFT JOIN marked AS m
        ON p.pod_uid = m.pod_uid
        AND p.container = m.container
        AND p.run_us = m.run_us
        AND m.start_us <= p.us
        AND m.end_us >= p.end_us
    WHERE p.end_us IS NOT NULL
    GROUP BY ALL
),

staged AS (
    SELECT
        c.pod_uid, c.container, c.run_us, c.start_us, c.start_basis, c.end_us, c.end_basis,
        COALESCE(
            c.mark.class,
            CASE
                WHEN b.is_interactive THEN 'interactive'
                WHEN c.start_us < b.work_us THEN 'startup'
                ELSE 'compute'
            END
        ) AS stage,
        c.mark.resource AS resource_id,
        c.mark.error_type AS mark_error,
        c.end_us = b.end_us AS is_end_of_run
    FROM covered AS c
    INNER JOIN begun AS b
        ON c.pod_uid = b.pod_uid AND c.container = b.container AND c.run_us = b.start_us
),

-- Pieces of one stage that follow each other are one.
joined AS (
    SELECT
        *,
        CASE
            WHEN
                stage = LAG(stage) OVER run
                AND resource_id IS NOT DISTINCT FROM LAG(resource_id) OVER run
                AND mark_error IS NOT DISTINCT FROM LAG(mark_error) OVER run
                THEN 0
            ELSE 1
        END AS begins
    FROM staged
    WINDOW run AS (PARTITION BY pod_uid, container, run_us ORDER BY start_us)
),

numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY pod_uid, container, run_us ORDER BY start_us
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM joined
)

SELECT
    pod_uid, container, run_us, stage,
    MIN(start_us) AS start_us,
    ARG_MIN(start_basis, start_us) AS start_basis,
    MAX(end_us) AS end_us,
    ARG_MAX(end_basis, end_us) AS end_basis,
    MIN(resource_id) AS resource_id,
    MIN(mark_error) AS mark_error,
    BOOL_OR(is_end_of_run) AS is_end_of_run
FROM numbered
GROUP BY pod_uid, container, run_us, number, stage
