-- Stages of runs before their pods, by Polyaxon's own conditions: a condition holds until the next.
-- A run that no pod is known of has its later stages from there too. Known faults: what the operator
-- wrote is dated by its last update; repeated warnings leave only the newest; `running` may be said
-- while a second attempt still pulls its image, so that it counts only where no pod is known.
-- Between two attempts that Kubernetes makes by itself nothing is told of: `unknown`, reason Retry.
-- Grain: one stage of one run.
-- Reads: run_statuses, run_versions, pod_intervals.
-- Parameters: $cluster (`fleet`: runs without a pod), $date, $day_end, $fleet.
WITH all_pods AS (
    SELECT
        run_uuid, pod_uid,
        MIN(cluster) AS cluster,
        MAX(attempt) AS attempt,
        epoch_us(MIN(created_at)) AS created_us,
        ARG_MAX(
            CASE WHEN end_at IS NOT NULL AND end_basis NOT IN ('last_seen', 'address_reused')
                THEN epoch_us(end_at) END,
            {'date': date, 'us': epoch_us(end_at)}
        ) AS end_us
    FROM pod_intervals
    WHERE run_uuid IS NOT NULL AND date <= CAST($date AS DATE)
    GROUP BY run_uuid, pod_uid
),

homes AS (
    SELECT run_uuid, MIN(cluster) AS cluster
    FROM all_pods
    GROUP BY run_uuid
),

conditions AS (
    SELECT
        run_uuid, status,
        epoch_us(event_at) AS us,
        MAX(ordinal) AS ordinal,
        ARG_MIN(reason, {'ordinal': ordinal, 'reason': reason}) AS reason,
        ARG_MIN(message, {'ordinal': ordinal, 'message': message}) AS message
    FROM run_statuses
    WHERE event_at IS NOT NULL
    GROUP BY run_uuid, status, event_at
),

-- A run that starts others has no pods and waits for nothing.
starters AS (
    SELECT DISTINCT run_uuid FROM run_versions WHERE kind IN ('dag', 'matrix', 'schedule')
),

services AS (
    SELECT DISTINCT run_uuid FROM run_versions WHERE kind = 'service'
),

created AS (
    SELECT run_uuid, epoch_us(MIN(created_at)) AS us
    FROM run_versions
    WHERE view <> 'resource' AND created_at IS NOT NULL
    GROUP BY run_uuid
),

points AS (
    SELECT
        c.run_uuid, c.us, c.ordinal, 'polyaxon' AS basis,
        CASE
            WHEN c.status IN ('created', 'on_schedule', 'compiled', 'resuming') THEN 'admission'
            WHEN c.status = 'queued' THEN 'queued'
            WHEN c.status IN ('scheduled', 'starting', 'processing') THEN 'admission'
            WHEN c.status = 'running' AND s.run_uuid IS NOT NULL THEN 'interactive'
            WHEN c.status = 'running' THEN 'compute'
            WHEN c.status = 'stopping' THEN 'teardown'
            ELSE 'done'
        END AS stage,
        c.status IN ('created', 'resuming') AS is_submission,
        c.reason, c.message
    FROM conditions AS c
    LEFT JOIN services AS s ON c.run_uuid = s.run_uuid
    WHERE c.status NOT IN ('warning', 'unschedulable', 'unknown', 'retrying')
    UNION ALL
    SELECT
        v.run_uuid, v.us, -1 AS ordinal, 'created' AS basis, 'unknown' AS stage,
        TRUE AS is_submission,
        CAST(NULL AS VARCHAR) AS reason,
        CAST(NULL AS VARCHAR) AS message
    FROM created AS v
    WHERE NOT EXISTS (
        SELECT 1 FROM conditions AS c WHERE c.run_uuid = v.run_uuid AND c.status = 'created'
    )
    -- Conditions that are gone told of more than a creation long ago.
    AND (
        EXISTS (SELECT 1 FROM conditions AS c WHERE c.run_uuid = v.run_uuid)
        OR EXISTS (SELECT 1 FROM all_pods AS p WHERE p.run_uuid = v.run_uuid)
    )
),

-- `submission` counts the times that the run was handed in: created, then resumed.
numbered AS (
    SELECT
        *,
        LEAD(us) OVER run AS next_us,
        LEAD(basis) OVER run AS next_basis,
        SUM(CASE WHEN is_submission THEN 1 ELSE 0 END) OVER (
            PARTITION BY run_uuid ORDER BY us, ordinal, stage
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS submission
    FROM points
    WHERE run_uuid NOT IN (SELECT run_uuid FROM starters)
    WINDOW run AS (PARTITION BY run_uuid ORDER BY us, ordinal, stage)
),

submissions AS (
    SELECT
        run_uuid, submission, MIN(us) AS from_us,
        LEAD(MIN(us)) OVER (PARTITION BY run_uuid ORDER BY submission) AS until_us
    FROM numbered
    GROUP BY run_uuid, submission
),

-- The pods that a submission led to. A pod's creation is cut off below a second.
first_pods AS (
    SELECT
        s.run_uuid, s.submission,
        MIN(p.created_us) AS pod_us,
        ARG_MIN(p.attempt, {'us': p.created_us, 'uid': p.pod_uid}) AS attempt
    FROM submissions AS s
    INNER JOIN all_pods AS p
        ON s.run_uuid = p.run_uuid
        AND p.created_us >= s.from_us - 1000000
        AND (s.until_us IS NULL OR p.created_us < s.until_us - 1000000)
    GROUP BY s.run_uuid, s.submission
),

before_pods AS (
    SELECT
        n.run_uuid, n.submission, n.stage, n.us AS start_us, n.basis AS start_basis,
        LEAST(n.next_us, f.pod_us) AS end_us,
        CASE WHEN f.pod_us <= COALESCE(n.next_us, f.pod_us) THEN 'created' ELSE n.next_basis END
            AS end_basis,
        n.reason, n.message,
        f.attempt
    FROM numbered AS n
    LEFT JOIN first_pods AS f ON n.run_uuid = f.run_uuid AND n.submission = f.submission
    WHERE n.stage <> 'done' AND (f.pod_us IS NULL OR n.us < f.pod_us)
),

attempts AS (
    SELECT
        run_uuid, attempt, MIN(created_us) AS created_us,
        CASE WHEN COUNT(*) = COUNT(end_us) THEN MAX(end_us) END AS end_us
    FROM all_pods
    WHERE attempt IS NOT NULL
    GROUP BY run_uuid, attempt
),

followed AS (
    SELECT
        *,
        LAG(end_us) OVER (PARTITION BY run_uuid ORDER BY attempt) AS ended_us
    FROM attempts
),

retries AS (
    SELECT
        f.run_uuid, f.attempt, f.ended_us AS start_us, f.created_us AS end_us
    FROM followed AS f
    WHERE
        f.ended_us < f.created_us
        AND NOT EXISTS (
            SELECT 1 FROM submissions AS s
            WHERE
                s.run_uuid = f.run_uuid
                AND s.submission > 1
                AND s.from_us > f.ended_us - 1000000
                AND s.from_us <= f.created_us + 1000000
        )
        -- Without conditions a resumed run looks like one that is tried again.
        AND EXISTS (SELECT 1 FROM conditions AS c WHERE c.run_uuid = f.run_uuid)
),

segments AS (
    SELECT
        run_uuid, attempt, stage, start_us, start_basis, end_us, end_basis,
        CAST(NULL AS VARCHAR) AS reason
    FROM before_pods
    UNION ALL
    SELECT
        run_uuid, attempt, 'unknown' AS stage, start_us, 'terminated' AS start_basis, end_us,
        'created' AS end_basis, 'Retry' AS reason
    FROM retries
)

SELECT
    s.run_uuid, s.attempt, s.stage, s.start_us, s.start_basis,
    COALESCE(s.end_us, epoch_us(CAST($day_end AS TIMESTAMPTZ))) AS end_us,
    COALESCE(s.end_basis, 'open') AS end_basis,
    s.reason
FROM segments AS s
LEFT JOIN homes AS h ON s.run_uuid = h.run_uuid
WHERE COALESCE(h.cluster, $fleet) = $cluster AND s.start_us < COALESCE(s.end_us, s.start_us + 1)
