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
            WHEN s.pod_uid IS NULL THEN 0
            WHEN s.gpu_count IS NULL THEN NULL
            WHEN
                (s.container IS NOT NULL AND s.container_role IS DISTINCT FROM 'init'
                AND s.container_role IS DISTINCT FROM 'main')
                OR (s.container IS NULL AND s.stage IN ('admission', 'scheduling'))
                OR (s.container IS NULL AND s.stage = 'unknown' AND s.start_basis = 'created')
                THEN 0
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
    CAST(LEAST(c.gpu_us, 9223372036854775807) AS BIGINT) AS gpu_us,
    CAST(c.gpu_us AS DOUBLE) / 1000000 AS gpu_seconds,
    -- Sizes that a client could forge must not stop the day.
    CAST(b.moved_bytes - GREATEST(0, b.moved_bytes - 9223372036854775807) AS BIGINT)
        AS transferred_bytes,
    CASE WHEN e.stage_id IS NULL THEN c.own_error ELSE e.first_error END AS first_error,
    [
        'uid', 'access_key', 'session_arn', 'name_window', 'address_window', 'session_name',
        'app_id', 'service_account', 'node', 'shared_address', 'ambiguous', 'conflict', 'none'
    ][e.match_rung] AS match_kind,
    ['socket', 'user_agent', 'only_running', 'declared_by_one', 'several', 'none'][e.container_rung]
        AS container_kind,
    COALESCE(e.sources, ['stages']) AS sources,
    COALESCE(e.evidence_ids, [c.stage_id]) AS evidence_ids
FROM costed AS c
LEFT JOIN wait_evidence AS e ON c.stage_id = e.stage_id AND c.number = e.number
LEFT JOIN wait_bytes AS b ON c.stage_id = b.stage_id AND c.number = b.number
