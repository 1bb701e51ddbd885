-- Time of pods that does not stand to a timeline's account, because a better one has it: the pod as
-- a whole, then its init containers, then its main ones (definitions.md 44). Before the pod is bound
-- no time stands to any account.
-- Grain: one stretch of one timeline.
-- Reads: wait_stages.
WITH timelines AS (
    SELECT
        cluster, pod_uid, container, account,
        MIN(start_us) AS start_us,
        MAX(end_us) AS end_us
    FROM wait_stages
    WHERE account IS NOT NULL
    GROUP BY cluster, pod_uid, container, account
),

ranked AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY cluster, pod_uid ORDER BY account, start_us, container
        ) AS place
    FROM timelines
),

taken AS (
    SELECT
        t.cluster, t.pod_uid, t.container,
        GREATEST(t.start_us, b.start_us) AS start_us,
        LEAST(t.end_us, b.end_us) AS end_us
    FROM ranked AS t
    INNER JOIN ranked AS b
        ON t.cluster = b.cluster
        AND t.pod_uid = b.pod_uid
        AND b.place < t.place
        AND b.start_us < t.end_us
        AND b.end_us > t.start_us
),

marked AS (
    SELECT
        *,
        CASE
            WHEN start_us <= MAX(end_us) OVER (
                PARTITION BY cluster, pod_uid, container ORDER BY start_us, end_us
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0
            ELSE 1
        END AS begins
    FROM taken
),

numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY cluster, pod_uid, container ORDER BY start_us, end_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM marked
)

SELECT
    cluster, pod_uid, container, MIN(start_us) AS start_us, MAX(end_us) AS end_us
FROM numbered
GROUP BY cluster, pod_uid, container, number
