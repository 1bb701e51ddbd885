-- One attempt of one run, as known at the end of the day.
-- Grain: one run active on the day and one of its attempts; attempt null where no pod was seen, or
-- where the order of its pods is not known.
-- Reads: active_runs, run_versions_merged, run_pods, run_pod_times, run_images, run_outputs,
--   run_coverage_days (all days).
-- Parameters: $date, $is_final.
WITH times AS (
    SELECT cluster, pod_uid, SUM(end_us - start_us) AS pod_us
    FROM run_pod_times
    GROUP BY cluster, pod_uid
),

attempts AS (
    SELECT
        p.run_uuid,
        p.attempt,
        MIN(p.cluster) AS cluster,
        MIN(p.namespace) AS namespace,
        MAX(p.project) AS project,
        MAX(p.run_owner) AS run_owner,
        MIN(p.created_at) AS start_at,
        CASE WHEN COUNT(*) = COUNT(p.end_at) THEN MAX(p.end_at) END AS end_at,
        LIST_SORT(LIST(p.pod_uid)) AS pod_uids,
        COUNT(*) AS pod_count,
        LIST_SORT(LIST(DISTINCT p.node) FILTER (WHERE p.node IS NOT NULL)) AS nodes,
        CASE WHEN COUNT(*) = COUNT(p.gpu_count) THEN SUM(p.gpu_count) END AS gpu_count,
        SUM(COALESCE(t.pod_us, 0)) AS pod_us,
        MAX(LIST_POSITION(
            ['label', 'instance_label', 'environment', 'name', 'conflict', 'none'],
            p.run_match_kind
        )) AS weakest_match
    FROM run_pods AS p
    LEFT JOIN times AS t ON p.cluster = t.cluster AND p.pod_uid = t.pod_uid
    GROUP BY p.run_uuid, p.attempt
),

whole AS (
    SELECT
        run_uuid,
        MAX(project) AS project,
        MAX(run_owner) AS run_owner,
        BOOL_AND(end_at IS NOT NULL) AS is_over
    FROM attempts
    GROUP BY run_uuid
),

-- How far flows observed the run's pods. All attempts of a run have the same.
expected AS (
    SELECT run_uuid, CAST(SUM(end_us - start_us) AS BIGINT) AS expected_us
    FROM run_pod_times
    WHERE is_bound
    GROUP BY run_uuid
),

covered AS (
    SELECT
        run_uuid,
        CAST(SUM(covered_us) AS BIGINT) AS covered_us,
        SUM(doubtful_us) AS doubtful_us
    FROM run_coverage_days
    WHERE source = 'flows' AND date <= CAST($date AS DATE)
    GROUP BY run_uuid
),

-- The weakest: what is contradicted, else missing, else not known.
proofs AS (
    SELECT
        run_uuid,
        ['contradicted', 'unproven', 'not_observed', 'proven'][MIN(LIST_POSITION(
            ['contradicted', 'unproven', 'not_observed', 'proven'], proof
        ))] AS outputs_proof
    FROM run_outputs
    WHERE date = CAST($date AS DATE)
    GROUP BY run_uuid
)

SELECT
    row_id([id_text(s.run_uuid), id_text(a.attempt)]) AS run_id,
    s.run_uuid,
    CAST(a.attempt AS BIGINT) AS attempt,
    a.cluster,
    a.namespace,
    v.name,
    v.kind,
    v.runtime,
    COALESCE(v.stated_project, w.project, v.listed_project) AS project,
    COALESCE(v.run_owner, w.run_owner) AS run_owner,
    v.queue,
    v.pipeline_uuid,
    v.original_uuid,
    s.status,
    s.outcome,
    s.created_at,
    a.start_at,
    a.end_at,
    COALESCE(a.pod_uids, []) AS pod_uids,
    CAST(COALESCE(a.pod_count, 0) AS BIGINT) AS pod_count,
    COALESCE(a.nodes, []) AS nodes,
    CAST(
        CASE
            WHEN a.run_uuid IS NULL THEN 0
            WHEN a.gpu_count IS NOT NULL THEN LEAST(a.gpu_count, 9223372036854775807)
        END
        AS BIGINT
    ) AS gpu_count,
    CAST(COALESCE(a.pod_us, 0) AS BIGINT) AS pod_us,
    v.code_revision,
    COALESCE(i.image_digests, []) AS image_digests,
    ['label', 'instance_label', 'environment', 'name', 'conflict', 'none'][a.weakest_match]
        AS run_match_kind,
    o.outputs_proof,
    x.expected_us,
    CASE WHEN x.run_uuid IS NOT NULL THEN COALESCE(f.covered_us, 0) END AS covered_us,
    CASE
        WHEN x.expected_us = f.covered_us AND f.doubtful_us = 0 THEN 'nothing_happened'
        WHEN f.covered_us > 0 THEN 'partly_observed'
        ELSE 'not_observed'
    END AS empty_means,
    s.is_done AND COALESCE(w.is_over, TRUE) AND CAST($is_final AS BOOLEAN) AS is_final
FROM active_runs AS s
LEFT JOIN run_versions_merged AS v ON s.run_uuid = v.run_uuid
LEFT JOIN attempts AS a ON s.run_uuid = a.run_uuid
LEFT JOIN whole AS w ON s.run_uuid = w.run_uuid
LEFT JOIN run_images AS i
    ON s.run_uuid = i.run_uuid AND a.attempt IS NOT DISTINCT FROM i.attempt
LEFT JOIN proofs AS o ON s.run_uuid = o.run_uuid
LEFT JOIN expected AS x ON s.run_uuid = x.run_uuid
LEFT JOIN covered AS f ON s.run_uuid = f.run_uuid
