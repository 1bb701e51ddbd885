-- The attempt of its run that each pod is (definitions.md 29).
-- With a replica index: place by creation among the pods of (run, replica type, index). Without:
-- pods whose lives overlap share an attempt; the count goes on from what earlier days published.
-- A life ends with the last container, not with the sandbox: a retry's pod is made in between.
-- Grain: one pod of a run.
-- Reads: pod_interval_pods, pod_interval_addresses, pod_interval_history.
-- Parameters: $day_end.
WITH today AS (
    SELECT
        p.pod_uid, p.run_uuid, p.replica_type, p.replica_index, p.created_at,
        MAX(
            COALESCE(
                CASE WHEN p.finished_at < CAST($day_end AS TIMESTAMPTZ) THEN p.finished_at END,
                a.end_at,
                CAST('9999-12-31' AS TIMESTAMPTZ)
            )
        ) AS life_end_at
    FROM pod_interval_pods AS p
    INNER JOIN pod_interval_addresses AS a ON p.pod_uid = a.pod_uid
    WHERE p.run_uuid IS NOT NULL
    GROUP BY p.pod_uid, p.run_uuid, p.replica_type, p.replica_index, p.created_at
),

published AS (
    SELECT
        pod_uid,
        ARG_MAX(run_uuid, date) AS run_uuid,
        ARG_MAX(attempt, date) AS attempt,
        ARG_MAX(replica_type, date) AS replica_type,
        ARG_MAX(replica_index, date) AS replica_index,
        ARG_MAX(created_at, date) AS created_at,
        MAX(COALESCE(end_at, CAST(date + 1 AS TIMESTAMPTZ))) AS life_end_at
    FROM pod_interval_history
    GROUP BY pod_uid
),

-- All pods of today's runs; what today says of a pod goes before what earlier days said.
known AS (
    SELECT
        COALESCE(t.pod_uid, h.pod_uid) AS pod_uid,
        COALESCE(t.run_uuid, h.run_uuid) AS run_uuid,
        CASE WHEN t.pod_uid IS NULL THEN h.replica_type ELSE t.replica_type END AS replica_type,
        CASE WHEN t.pod_uid IS NULL THEN h.replica_index ELSE t.replica_index END
            AS replica_index,
        COALESCE(t.created_at, h.created_at) AS created_at,
        COALESCE(t.life_end_at, h.life_end_at) AS life_end_at,
        CASE WHEN t.run_uuid = h.run_uuid OR t.pod_uid IS NULL THEN h.attempt END
            AS published_attempt,
        t.pod_uid IS NOT NULL AS is_of_day
    FROM today AS t
    FULL JOIN published AS h ON t.pod_uid = h.pod_uid
    WHERE t.pod_uid IS NOT NULL OR (h.run_uuid IS NOT NULL AND h.attempt IS NOT NULL)
),

indexed AS (
    SELECT
        pod_uid, is_of_day,
        ROW_NUMBER() OVER (
            PARTITION BY run_uuid, replica_type, replica_index ORDER BY created_at, pod_uid
        ) AS attempt
    FROM known
    WHERE replica_index IS NOT NULL
),

published_groups AS (
    SELECT
        run_uuid, replica_type,
        MAX(published_attempt) AS last_attempt,
        MAX(life_end_at) AS life_end_at
    FROM known
    WHERE replica_index IS NULL AND published_attempt IS NOT NULL
    GROUP BY run_uuid, replica_type
),

new_pods AS (
    SELECT
        k.pod_uid, k.run_uuid, k.replica_type, k.created_at,
        COALESCE(g.last_attempt, 0) AS last_attempt,
        GREATEST(
            g.life_end_at,
            MAX(k.life_end_at) OVER (
                PARTITION BY k.run_uuid, k.replica_type ORDER BY k.created_at, k.pod_uid
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            )
        ) AS busy_until_at
    FROM known AS k
    LEFT JOIN published_groups AS g
        ON k.run_uuid = g.run_uuid AND k.replica_type IS NOT DISTINCT FROM g.replica_type
    WHERE k.replica_index IS NULL AND k.published_attempt IS NULL
),

counted AS (
    SELECT
        pod_uid,
        last_attempt + SUM(
            CASE WHEN busy_until_at IS NULL OR created_at >= busy_until_at THEN 1 ELSE 0 END
        ) OVER (
            PARTITION BY run_uuid, replica_type ORDER BY created_at, pod_uid
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS attempt
    FROM new_pods
)

SELECT pod_uid, CAST(attempt AS BIGINT) AS attempt FROM indexed WHERE is_of_day
UNION ALL
SELECT pod_uid, CAST(published_attempt AS BIGINT) AS attempt
FROM known
WHERE replica_index IS NULL AND published_attempt IS NOT NULL AND is_of_day
UNION ALL
SELECT pod_uid, CAST(attempt AS BIGINT) AS attempt FROM counted
