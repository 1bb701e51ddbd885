-- Pulls of the day's pods with the container that each is for, and their times.
-- A pull whose event names no container is of the only one that asked for that image.
-- Grain: one pull of one container.
-- Reads: image_pulls, stage_containers, stage_runs, stage_events, stage_lives.
-- Parameters: $cluster, $date.
WITH newest AS (
    SELECT *
    FROM image_pulls
    WHERE
        cluster = $cluster
        AND date <= CAST($date AS DATE)
        AND pod_uid IN (SELECT pod_uid FROM stage_lives)
    QUALIFY ROW_NUMBER() OVER (PARTITION BY image_pull_id ORDER BY date DESC) = 1
),

askers AS (
    SELECT pod_uid, image, MIN(container) AS container
    FROM stage_containers
    WHERE image IS NOT NULL
    GROUP BY pod_uid, image
    HAVING COUNT(*) = 1
),

pulls AS (
    SELECT
        n.pod_uid,
        COALESCE(n.container, a.container) AS container,
        epoch_us(n.start_at) AS start_us,
        epoch_us(n.end_at) AS end_us,
        CAST(ROUND(n.waiting_seconds * 1000000) AS BIGINT) AS waiting_us,
        CAST(ROUND(n.pulling_seconds * 1000000) AS BIGINT) AS pulling_us,
        n.was_present, n.error, n.error_count,
        image_resource(n.image, n.registry, n.image_digest) AS resource_id
    FROM newest AS n
    LEFT JOIN askers AS a
        ON n.container IS NULL AND n.pod_uid = a.pod_uid AND n.image = a.image
),

failures AS (
    SELECT pod_uid, container, first_us AS failed_us FROM stage_events WHERE kind = 'unpulled'
    UNION
    SELECT pod_uid, container, last_us AS failed_us FROM stage_events WHERE kind = 'unpulled'
),

-- A container starts behind its pull, whatever the rounding of the events says.
placed AS (
    SELECT
        p.*,
        MIN(r.start_us) AS run_us,
        ARG_MIN(r.start_basis, {'us': r.start_us, 'basis': r.start_basis}) AS run_basis
    FROM pulls AS p
    LEFT JOIN stage_runs AS r
        ON p.pod_uid = r.pod_uid
        AND p.container = r.container
        AND r.start_us >= COALESCE(p.end_us, p.start_us) - 2000000
        AND r.end_us >= p.start_us
    WHERE p.container IS NOT NULL
    GROUP BY ALL
),

ended AS (
    SELECT
        p.* EXCLUDE (start_us, end_us),
        LEAST(p.start_us, p.run_us) AS start_us,
        CASE
            WHEN p.end_us IS NOT NULL THEN LEAST(p.end_us, p.run_us)
            ELSE COALESCE(p.run_us, l.end_us, GREATEST(l.alive_us, p.start_us))
        END AS end_us,
        CASE
            WHEN p.end_us <= p.run_us OR (p.end_us IS NOT NULL AND p.run_us IS NULL) THEN 'event'
            WHEN p.run_us IS NOT NULL THEN p.run_basis
            WHEN l.end_us IS NOT NULL THEN l.end_basis
            ELSE 'last_seen'
        END AS end_basis,
        p.end_us IS NOT NULL OR p.run_us IS NOT NULL AS is_pulled
    FROM placed AS p
    INNER JOIN stage_lives AS l ON p.pod_uid = l.pod_uid
),

first_failures AS (
    SELECT e.pod_uid, e.container, e.start_us, MIN(f.failed_us) AS failed_us
    FROM ended AS e
    INNER JOIN failures AS f
        ON e.pod_uid = f.pod_uid
        AND (e.container = f.container OR f.container IS NULL)
        AND f.failed_us >= e.start_us
        AND f.failed_us <= e.end_us
    WHERE e.error IS NOT NULL
    GROUP BY e.pod_uid, e.container, e.start_us
)

SELECT
    e.* EXCLUDE (run_us, run_basis),
    CASE
        WHEN e.error IS NOT NULL
            THEN LEAST(GREATEST(COALESCE(f.failed_us, e.start_us), e.start_us), e.end_us)
    END AS failed_us
FROM ended AS e
LEFT JOIN first_failures AS f
    ON e.pod_uid = f.pod_uid AND e.container = f.container AND e.start_us = f.start_us
