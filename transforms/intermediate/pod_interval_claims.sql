-- GPUs that pods have by resource claims: what was handed out to the pod, else what the claim asks
-- for, else what the template asks for that the claim is to be made from.
-- Grain: one pod with claims; `gpu_count` is null where one of its claims does not tell.
-- Reads: pod_interval_states, resource_claims.
-- Parameters: $cluster, $span_start (start of the look-back), $day_end.
WITH named AS (
    SELECT
        s.pod_uid,
        s.namespace,
        c.entry.name AS reference,
        ARG_MIN(c.entry.claim, s.fact_rank) FILTER (WHERE c.entry.claim IS NOT NULL) AS claim,
        ARG_MIN(c.entry.template, s.fact_rank) FILTER (WHERE c.entry.template IS NOT NULL)
            AS template
    FROM pod_interval_states AS s
    CROSS JOIN UNNEST(s.resource_claims) AS c (entry)
    GROUP BY s.pod_uid, s.namespace, c.entry.name
),

stated AS (
    SELECT
        namespace, claim, is_template, requested_gpu_count, allocated_gpu_count, reserved_pod_uids,
        -- Whatever states tie, the same one is the newest.
        {'at': observed_at, 'id': record_id} AS place
    FROM resource_claims
    WHERE
        cluster = $cluster
        AND observed_at >= CAST($span_start AS TIMESTAMPTZ)
        AND COALESCE(created_at < CAST($day_end AS TIMESTAMPTZ), TRUE)
),

counted AS (
    SELECT
        n.pod_uid,
        n.reference,
        COALESCE(
            ARG_MAX(s.allocated_gpu_count, s.place) FILTER (
                WHERE NOT s.is_template AND LIST_CONTAINS(s.reserved_pod_uids, n.pod_uid)
            ),
            ARG_MAX(s.requested_gpu_count, s.place) FILTER (WHERE NOT s.is_template),
            ARG_MAX(s.requested_gpu_count, s.place) FILTER (WHERE s.is_template)
        ) AS gpu_count
    FROM named AS n
    LEFT JOIN stated AS s
        ON n.namespace = s.namespace
        AND s.claim = CASE WHEN s.is_template THEN n.template ELSE n.claim END
    GROUP BY n.pod_uid, n.reference
)

SELECT
    pod_uid,
    CASE WHEN COUNT(*) = COUNT(gpu_count) THEN SUM(gpu_count) END AS gpu_count
FROM counted
GROUP BY pod_uid
