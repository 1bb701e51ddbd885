-- Step 1: whether runs went to the stated queue, namespace and resources.
-- Grain: one run.
-- Reads: active_runs, run_versions, run_pods.
WITH ranked AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY run_uuid
            ORDER BY
                COALESCE(updated_at, observed_at), observed_at, view <> 'list', record_id,
                export_file_id, record_index, row_index
        ) AS place
    FROM run_versions
    WHERE run_uuid IN (SELECT run_uuid FROM active_runs)
),

stated AS (
    SELECT
        run_uuid,
        LIST_SORT(LIST(DISTINCT queue) FILTER (WHERE queue IS NOT NULL)) AS queues,
        ARG_MAX(namespace, place) FILTER (WHERE namespace IS NOT NULL) AS namespace,
        -- A list states where the agent is, which is where pods run unless the content says else.
        COALESCE(
            BOOL_OR(view = 'resource' AND namespace IS NOT NULL), FALSE
        )
        OR COALESCE(
            ARG_MAX(namespace, place) FILTER (WHERE namespace IS NOT NULL)
            <> MAX(namespace) FILTER (WHERE view = 'list'), TRUE
        ) AS is_destination,
        ARG_MAX(gpu_count, place) FILTER (WHERE gpu_count IS NOT NULL) AS gpu_count,
        ARG_MAX(replicas, place) FILTER (WHERE replicas IS NOT NULL) AS replicas,
        MIN(record_id, 5) AS record_ids
    FROM ranked
    GROUP BY run_uuid
),

attempts AS (
    SELECT
        run_uuid, attempt,
        COUNT(*) AS pod_count,
        LIST(DISTINCT namespace) AS namespaces,
        LIST(DISTINCT queue) FILTER (WHERE queue IS NOT NULL) AS queues,
        MIN(gpu_count) AS least_gpus, MAX(gpu_count) AS most_gpus,
        COUNT(*) = COUNT(gpu_count) AS is_known,
        MIN(evidence_id, 5) AS evidence_ids
    FROM run_pods
    GROUP BY run_uuid, attempt
),

observed AS (
    SELECT
        a.run_uuid,
        BOOL_OR(LEN(s.queues) > 0 AND NOT LIST_HAS_ALL(s.queues, COALESCE(a.queues, [])))
            AS is_other_queue,
        BOOL_OR(s.namespace IS NOT NULL AND a.namespaces <> [s.namespace]) AS is_other_namespace,
        BOOL_OR(s.is_destination) AS is_destination,
        BOOL_OR(
            s.gpu_count IS NOT NULL
            AND (a.least_gpus <> s.gpu_count OR a.most_gpus <> s.gpu_count)
        ) AS is_other_gpus,
        BOOL_OR(
            -- One replica may be tried again without the others.
            s.replicas IS NOT NULL
            AND (a.pod_count > s.replicas OR (a.attempt = 1 AND a.pod_count < s.replicas))
            AND a.attempt IS NOT NULL
        ) AS is_other_replicas,
        BOOL_AND(a.is_known) AS is_known,
        FLATTEN(LIST(a.evidence_ids)) AS evidence_ids
    FROM attempts AS a
    LEFT JOIN stated AS s ON a.run_uuid = s.run_uuid
    GROUP BY a.run_uuid
),

judged AS (
    SELECT
        r.run_uuid,
        CASE
            WHEN LEN(s.queues) > 1 THEN 'its versions name several queues'
            WHEN o.is_other_queue THEN 'a pod went to another queue than the stated one'
            WHEN o.is_other_namespace AND o.is_destination
                THEN 'a pod runs in another namespace than the stated one'
            WHEN o.is_other_gpus THEN 'a pod requests another number of GPUs than stated'
            WHEN o.is_other_replicas THEN 'an attempt has another number of pods than replicas stated'
        END AS wrong,
        CASE
            WHEN o.run_uuid IS NULL THEN 'no pod of it was seen'
            WHEN COALESCE(LEN(s.queues), 0) = 0 THEN 'no source states its queue'
            WHEN s.namespace IS NULL THEN 'no source states its namespace'
            WHEN o.is_other_namespace THEN 'only the namespace of its agent is stated'
            WHEN s.gpu_count IS NULL OR NOT o.is_known
                THEN 'no source states the resources that it asks for and has'
        END AS unknown,
        LIST_CONCAT(COALESCE(s.record_ids, []), COALESCE(o.evidence_ids, [])) AS evidence_ids
    FROM active_runs AS r
    LEFT JOIN stated AS s ON r.run_uuid = s.run_uuid
    LEFT JOIN observed AS o ON r.run_uuid = o.run_uuid
)

SELECT
    run_uuid,
    CASE
        WHEN wrong IS NOT NULL THEN 'failed' WHEN unknown IS NOT NULL THEN 'not_observable'
        ELSE 'passed'
    END AS result,
    COALESCE(wrong, unknown, 'its pods run where it was submitted to, with the GPUs stated')
        AS sentence,
    ['pod_intervals', 'run_versions'] AS sources,
    evidence_ids
FROM judged
