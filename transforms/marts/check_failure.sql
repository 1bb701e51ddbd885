-- Step 5: whether an attempt that failed shows with evidence.
-- Grain: one run.
-- Reads: active_runs, run_statuses, container_states, kube_event_states, run_pods.
-- Parameters: $day_end.
WITH conditions AS (
    SELECT
        run_uuid,
        TRUE AS is_failed,
        BOOL_OR(reason IS NOT NULL OR message IS NOT NULL) AS is_told,
        MIN(record_id, 3) AS evidence_ids
    FROM run_statuses
    WHERE status = 'failed' AND event_at < CAST($day_end AS TIMESTAMPTZ)
    GROUP BY run_uuid
),

exits AS (
    SELECT
        p.run_uuid,
        TRUE AS is_failed,
        BOOL_OR(
            (c.exit_code <> 0 AND (c.reason IS NOT NULL OR c.message IS NOT NULL))
            OR (c.last_exit_code <> 0 AND c.last_reason IS NOT NULL)
        ) AS is_told,
        MIN(c.record_id, 3) AS evidence_ids
    FROM container_states AS c
    INNER JOIN run_pods AS p ON c.cluster = p.cluster AND c.pod_uid = p.pod_uid
    WHERE
        (c.exit_code <> 0 OR c.last_exit_code <> 0)
        AND c.container_role IN ('main', 'init')
        AND c.observed_at <= CAST($day_end AS TIMESTAMPTZ)
    GROUP BY p.run_uuid
),

pods AS (
    SELECT
        p.run_uuid,
        BOOL_OR(p.is_failed) AS is_failed,
        BOOL_OR(p.is_failed AND e.record_id IS NOT NULL) AS is_told,
        MIN(COALESCE(e.record_id, p.evidence_id), 3) FILTER (WHERE p.is_failed) AS evidence_ids
    FROM run_pods AS p
    LEFT JOIN kube_event_states AS e
        ON p.is_failed
        AND p.cluster = e.cluster
        AND e.event_type = 'Warning'
        AND e.event_at < CAST($day_end AS TIMESTAMPTZ)
        AND (
            e.involved_uid = p.pod_uid
            OR (
                e.involved_uid IS NULL AND e.namespace = p.namespace
                AND e.involved_name = p.pod_name
            )
        )
    GROUP BY p.run_uuid
),

told AS (
    SELECT
        run_uuid,
        BOOL_OR(is_failed) AS is_failed,
        BOOL_OR(is_told) AS is_told,
        FLATTEN(LIST(evidence_ids) FILTER (WHERE is_failed)) AS evidence_ids
    FROM (
        SELECT * FROM conditions
        UNION ALL
        SELECT * FROM exits
        UNION ALL
        SELECT * FROM pods
    )
    GROUP BY run_uuid
)

SELECT
    r.run_uuid,
    CASE
        WHEN NOT COALESCE(t.is_failed, FALSE) THEN 'not_observable'
        WHEN t.is_told THEN 'passed'
        ELSE 'failed'
    END AS result,
    CASE
        WHEN NOT COALESCE(t.is_failed, FALSE) THEN 'no attempt of it failed'
        WHEN t.is_told THEN 'an attempt failed, and its reason is on record'
        ELSE 'an attempt failed, and nothing tells why'
    END AS sentence,
    ['container_states', 'kube_event_states', 'run_statuses'] AS sources,
    COALESCE(t.evidence_ids, []) AS evidence_ids
FROM active_runs AS r
LEFT JOIN told AS t ON r.run_uuid = t.run_uuid
