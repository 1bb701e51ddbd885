-- Step 4: whether an interruption was handled as declared.
-- Grain: one run.
-- Reads: active_runs, runs, run_versions, run_statuses, container_states, object_transfers (all
--   days), run_outputs, run_coverage, run_pods.
-- Parameters: $date, $day_end.
WITH declared AS (
    SELECT run_uuid, MAX(max_retries) AS max_retries, MIN(record_id, 2) AS record_ids
    FROM run_versions
    GROUP BY run_uuid
),

resumed AS (
    SELECT run_uuid, COUNT(DISTINCT event_at) AS resume_count, MIN(record_id, 2) AS record_ids
    FROM run_statuses
    WHERE status = 'resuming' AND event_at < CAST($day_end AS TIMESTAMPTZ)
    GROUP BY run_uuid
),

restarts AS (
    SELECT run_uuid, SUM(restart_count) AS restart_count
    FROM (
        SELECT p.run_uuid, p.cluster, p.pod_uid, c.container, MAX(c.restart_count) AS restart_count
        FROM container_states AS c
        INNER JOIN run_pods AS p ON c.cluster = p.cluster AND c.pod_uid = p.pod_uid
        WHERE c.container_role = 'main' AND c.observed_at <= CAST($day_end AS TIMESTAMPTZ)
        GROUP BY p.run_uuid, p.cluster, p.pod_uid, c.container
    )
    GROUP BY run_uuid
),

tries AS (
    SELECT
        run_uuid,
        MAX(attempt) AS attempt_count,
        MIN(evidence_id, 4) AS evidence_ids
    FROM run_pods
    GROUP BY run_uuid
),

-- Checkpoints that an earlier attempt left under an output, and whether the last one read there.
checkpoints AS (
    SELECT
        t.run_uuid, t.bucket,
        BOOL_OR(
            t.operation IN ('write', 'copy') AND t.attempt < n.attempt_count
            AND t.change_times IS NOT NULL
        ) AS is_saved,
        BOOL_OR(
            t.operation = 'read' AND t.attempt = n.attempt_count AND t.success_count > 0
        ) AS is_read,
        MIN(t.transfer_id, 3) AS transfer_ids
    FROM object_transfers AS t
    INNER JOIN tries AS n ON t.run_uuid = n.run_uuid
    INNER JOIN run_outputs AS o
        ON t.run_uuid = o.run_uuid
        AND o.date = CAST($date AS DATE)
        AND STARTS_WITH(t.object_id, o.resource_id)
    WHERE
        t.date <= CAST($date AS DATE)
        AND REGEXP_MATCHES(LOWER(t.key), 'checkpoint|ckpt')
    GROUP BY t.run_uuid, t.bucket
),

saved AS (
    SELECT
        c.run_uuid,
        BOOL_OR(c.is_saved) AS is_saved,
        BOOL_OR(c.is_read) AS is_read,
        BOOL_AND(COALESCE(v.empty_means = 'nothing_happened', FALSE)) AS is_covered,
        FLATTEN(LIST(c.transfer_ids)) AS transfer_ids
    FROM checkpoints AS c
    LEFT JOIN run_coverage AS v
        ON c.run_uuid = v.run_uuid
        AND v.date = CAST($date AS DATE)
        AND v.source = 'object_requests:' || c.bucket
    GROUP BY c.run_uuid
),

outcomes AS (
    SELECT run_uuid, MIN(outcome) AS outcome
    FROM runs
    WHERE date = CAST($date AS DATE)
    GROUP BY run_uuid
),

counted AS (
    SELECT
        r.run_uuid,
        u.outcome,
        d.max_retries,
        COALESCE(z.resume_count, 0) AS resume_count,
        n.attempt_count,
        GREATEST(
            0, COALESCE(n.attempt_count, 1) - 1 - COALESCE(z.resume_count, 0)
        ) + COALESCE(x.restart_count, 0) AS retry_count,
        COALESCE(n.attempt_count, 1) > 1 OR COALESCE(x.restart_count, 0) > 0 AS is_tried_again,
        COALESCE(s.is_saved, FALSE) AS is_saved,
        COALESCE(s.is_read, FALSE) AS is_read,
        COALESCE(s.is_covered, FALSE) AS is_covered,
        LIST_CONCAT(
            COALESCE(n.evidence_ids, []), COALESCE(z.record_ids, []),
            COALESCE(s.transfer_ids, []), COALESCE(d.record_ids, [])
        ) AS evidence_ids
    FROM active_runs AS r
    LEFT JOIN outcomes AS u ON r.run_uuid = u.run_uuid
    LEFT JOIN declared AS d ON r.run_uuid = d.run_uuid
    LEFT JOIN resumed AS z ON r.run_uuid = z.run_uuid
    LEFT JOIN restarts AS x ON r.run_uuid = x.run_uuid
    LEFT JOIN tries AS n ON r.run_uuid = n.run_uuid
    LEFT JOIN saved AS s ON r.run_uuid = s.run_uuid
),

judged AS (
    SELECT
        *,
        CASE
            WHEN retry_count > max_retries THEN 'it was tried again more often than declared'
            WHEN outcome = 'failed' AND resume_count = 0 AND retry_count < max_retries
                THEN 'it failed and was not tried again as often as declared'
            WHEN is_tried_again AND is_saved AND NOT is_read AND is_covered
                THEN 'the last attempt did not read the checkpoint of an earlier one'
        END AS wrong,
        CASE
            WHEN attempt_count IS NULL THEN 'no pod of it was seen in an order'
            WHEN NOT is_tried_again THEN 'it was not interrupted'
            WHEN retry_count > 0 AND max_retries IS NULL
                THEN 'no source states how often it may be tried again'
            WHEN is_saved AND NOT is_read
                THEN 'whether the checkpoint of an earlier attempt was read is not logged'
        END AS unknown
    FROM counted
)

SELECT
    run_uuid,
    CASE
        WHEN wrong IS NOT NULL THEN 'failed' WHEN unknown IS NOT NULL THEN 'not_observable'
        ELSE 'passed'
    END AS result,
    COALESCE(
        wrong, unknown,
        CASE WHEN is_read AND is_saved THEN 'it went on from the checkpoint of an earlier attempt'
            ELSE 'it was tried again as declared' END
    ) AS sentence,
    ['object_transfers', 'pod_intervals', 'run_statuses', 'run_versions'] AS sources,
    evidence_ids
FROM judged
