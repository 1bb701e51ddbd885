-- When pods waited for something, by what they tried (definitions.md 43): attempts of one pod,
-- container and resource follow each other with gaps of 300 s at most. A failure of which no more
-- is known, less than that before the end of the day, lasts to it.
-- `rank` is the order in which causes go before each other.
-- Grain: one span of one cause.
-- Reads: wait_attempts, attempt_activity, wait_marks, attempt_pods.
-- Parameters: $day_end.
WITH spaced AS (
    SELECT
        *,
        CASE
            WHEN begin_us - MAX(end_us) OVER (
                PARTITION BY cluster, pod_uid, container, activity, resource_id
                ORDER BY begin_us, end_us, order_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) <= 300000000
                THEN 0
            ELSE 1
        END AS begins
    FROM wait_attempts
),

chained AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY cluster, pod_uid, container, activity, resource_id
            ORDER BY begin_us, end_us, order_id
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS chain
    FROM spaced
),

followed AS (
    SELECT
        *,
        LEAD(begin_us) OVER later AS next_us,
        MIN(CASE WHEN outcome = 'ok' THEN begin_us END) OVER rest AS success_us,
        MIN(CASE WHEN outcome = 'ok' THEN end_us END) OVER rest AS succeeded_us,
        MAX(CASE WHEN outcome = 'denied' THEN end_us END) OVER whole AS last_denied_us,
        MAX(CASE WHEN outcome = 'credentials' THEN end_us END) OVER whole AS last_refused_us,
        MAX(CASE WHEN outcome = 'failed' THEN end_us END) OVER whole AS last_failed_us,
        -- What comes of a chain so shortly before midnight the day does not know.
        MAX(end_us) OVER whole >= epoch_us(CAST($day_end AS TIMESTAMPTZ)) - 300000000 AS is_open
    FROM chained
    WINDOW
        later AS (
            PARTITION BY cluster, pod_uid, container, activity, resource_id, chain
            ORDER BY begin_us, end_us, order_id
        ),
        rest AS (
            PARTITION BY cluster, pod_uid, container, activity, resource_id, chain
            ORDER BY begin_us, end_us, order_id
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ),
        whole AS (PARTITION BY cluster, pod_uid, container, activity, resource_id, chain)
),

closed AS (
    SELECT
        *,
        CASE WHEN is_open AND success_us IS NULL THEN epoch_us(CAST($day_end AS TIMESTAMPTZ)) END
            AS unsolved_us,
        CASE WHEN is_open AND next_us IS NULL THEN epoch_us(CAST($day_end AS TIMESTAMPTZ)) END
            AS untried_us
    FROM followed
),

spans AS (
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        0 AS rank, 'denied' AS cause, begin_us AS start_us,
        COALESCE(success_us, unsolved_us, last_denied_us) AS end_us,
        error, evidence_id, source
    FROM closed
    WHERE outcome = 'denied'
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        1 AS rank, 'throttled' AS cause, end_us AS start_us,
        COALESCE(next_us, untried_us, end_us) AS end_us, error, evidence_id, source
    FROM closed
    WHERE outcome = 'throttled'
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        2 AS rank, 'retry' AS cause, end_us AS start_us,
        COALESCE(next_us, untried_us, end_us) AS end_us, error, evidence_id, source
    FROM closed
    WHERE outcome = 'failed' AND activity <> 'resolve'
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        3 AS rank, 'authenticate' AS cause, begin_us AS start_us,
        COALESCE(success_us, unsolved_us, last_refused_us) AS end_us, error, evidence_id, source
    FROM closed
    WHERE outcome = 'credentials'
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        4 AS rank, 'resolve' AS cause, begin_us AS start_us,
        CASE
            WHEN outcome = 'failed'
                THEN GREATEST(end_us, COALESCE(succeeded_us, unsolved_us, last_failed_us))
            ELSE end_us
        END AS end_us,
        error, evidence_id, source
    FROM closed
    WHERE activity = 'resolve'
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        CASE WHEN is_gate THEN 3 ELSE 5 END AS rank,
        CASE WHEN is_gate THEN 'authenticate' ELSE 'connect' END AS cause,
        begin_us AS start_us, end_us, error, evidence_id, source
    FROM closed
    WHERE activity = 'connect' AND outcome <> 'denied'
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        6 AS rank, 'transfer' AS cause, begin_us AS start_us, end_us,
        CAST(NULL AS VARCHAR) AS error, evidence_id, source
    FROM closed
    WHERE activity = 'object_access'
    UNION ALL
    SELECT
        a.cluster, a.pod_uid, a.container, a.container_role, a.container_kind, a.match_kind,
        a.resource_id,
        CASE WHEN a.is_gate THEN 3 ELSE 6 END AS rank,
        CASE WHEN a.is_gate THEN 'authenticate' ELSE 'transfer' END AS cause,
        a.start_us, a.end_us, CAST(NULL AS VARCHAR) AS error, a.evidence_id, a.source
    FROM attempt_activity AS a
    INNER JOIN attempt_pods AS p ON a.cluster = p.cluster AND a.pod_uid = p.pod_uid
    UNION ALL
    SELECT
        cluster, pod_uid, container, container_role, container_kind, match_kind, resource_id,
        rank, cause, start_us, end_us, error, evidence_id, source
    FROM wait_marks
)

SELECT * FROM spans WHERE end_us > start_us
