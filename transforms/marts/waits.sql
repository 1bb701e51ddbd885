-- Parts of stages with causes, evidence and GPU time.
-- Grain: one part of one stage on the day.
-- Reads: wait_tiles, wait_stages, wait_evidence, wait_accounts, wait_bytes.
WITH taken AS (
    SELECT
        t.stage_id, t.number,
        SUM(LEAST(t.end_us, a.end_us) - GREATEST(t.start_us, a.start_us)) AS taken_us
    FROM wait_tiles AS t
    INNER JOIN wait_stages AS s ON t.stage_id = s.stage_id
    INNER JOIN wait_accounts AS a
        ON s.cluster = a.cluster
        AND s.pod_uid = a.pod_uid
        AND s.container IS NOT DISTINCT FROM a.container
        AND t.start_us < a.end_us
        AND t.end_us > a.start_us
    GROUP BY t.stage_id, t.number
),

costed AS (
    SELECT
        s.* EXCLUDE (start_us, end_us),
        t.number, t.rank, t.start_us, t.end_us,
        t.end_us - t.start_us AS duration_us,
        CASE
            WHEN s.account IS NULL THEN 0
            ELSE s.gpu_count * GREATEST(t.end_us - t.start_us - COALESCE(k.taken_us, 0), 0)
        END AS gpu_us
    FROM wait_tiles AS t
    INNER JOIN wait_stages AS s ON t.stage_id = s.stage_id
    LEFT JOIN taken AS k ON t.stage_id = k.stage_id AND t.number = k.number
)

SELECT
    row_id([
        id_text(c.cluster), id_text(c.run_uuid), id_text(c.pod_uid), id_text(c.container),
        id_text(c.start_us)
    ]) AS wait_id,
    c.cluster,
    c.run_uuid,
    c.attempt,
    c.project,
    c.namespace,
    c.pod_name,
    c.pod_uid,
    c.node,
    c.container,
    c.container_role,
    c.stage,
    c.stage_id,
    c.step,
    COALESCE(e.cause, c.own_cause) AS cause,
    CASE WHEN e.stage_id IS NULL THEN c.resource_id ELSE e.resource_id END AS resource_id,
    make_timestamptz(c.start_us) AS start_at,
    make_timestamptz(c.end_us) AS end_at,
    c.duration_us,
    CAST(c.duration_us AS DOUBLE) / 1000000 AS seconds,
    -- Requests, too, may be more than there can be.
    in_64_bits(c.gpu_us) AS gpu_us,
    CAST(c.gpu_us AS DOUBLE) / 1000000 AS gpu_seconds,
    -- Sizes that a client could forge must not stop the day.
    in_64_bits(b.moved_bytes) AS transferred_bytes,
    CASE
        WHEN COALESCE(e.cause, c.own_cause) = 'transfer'
            THEN CAST(b.moved_bytes AS DOUBLE) * 1000000 / c.duration_us
    END AS bytes_per_second,
    CASE WHEN e.stage_id IS NULL THEN c.own_error ELSE e.first_error END AS first_error,
    pod_kind(e.match_rung) AS match_kind,
    container_kind_of(e.container_rung) AS container_kind,
    COALESCE(e.sources, ['stages']) AS sources,
    COALESCE(e.evidence_ids, [c.stage_id]) AS evidence_ids,
    c.cluster AS asked_cluster,
    c.run_uuid AS asked_run,
    CASE WHEN e.stage_id IS NULL THEN c.resource_id ELSE e.resource_id END AS asked_resource,
    CASE
        WHEN COALESCE(e.cause, c.own_cause) = 'resolve' THEN 'resolve'
        WHEN COALESCE(e.cause, c.own_cause) = 'unexplained' THEN 'flows'
        WHEN e.stage_id IS NOT NULL THEN 'connect'
    END AS asked_operation
FROM costed AS c
LEFT JOIN wait_evidence AS e ON c.stage_id = e.stage_id AND c.number = e.number
LEFT JOIN wait_bytes AS b ON c.stage_id = b.stage_id AND c.number = b.number
