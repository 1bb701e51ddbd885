-- Stages of the day: what is proven, in order, with the time that nothing proves between.
-- Time of a second at most between two proofs goes to the earlier stage; the kubelet cuts off what
-- is below a second.
-- Grain: one stage of one run, pod or container that meets the day.
-- Reads: stage_pod_segments, stage_container_segments, stage_run_segments, stage_lives,
--   stage_containers, stage_carried.
-- Parameters: $cluster, $fleet, $day_start, $day_end, $span_start.
WITH bounds AS (
    SELECT
        epoch_us(CAST($day_start AS TIMESTAMPTZ)) AS start_us,
        epoch_us(CAST($day_end AS TIMESTAMPTZ)) AS end_us,
        epoch_us(CAST($span_start AS TIMESTAMPTZ)) AS span_us
),

segments AS (
    SELECT
        CAST(NULL AS VARCHAR) AS run_uuid, pod_uid, CAST(NULL AS VARCHAR) AS container,
        CAST(NULL AS BIGINT) AS attempt,
        seg_rank, stage, CAST(NULL AS VARCHAR) AS step, start_us, start_basis, end_us, end_basis,
        end_latest_us, CAST(NULL AS BIGINT) AS restart_count,
        CAST(NULL AS VARCHAR) AS resource_id, reason, message, event_count, FALSE AS is_end_told
    FROM stage_pod_segments
    UNION ALL
    SELECT
        CAST(NULL AS VARCHAR) AS run_uuid, s.pod_uid, s.container,
        CAST(NULL AS BIGINT) AS attempt,
        s.seg_rank, s.stage, s.step, s.start_us, s.start_basis, s.end_us, s.end_basis,
        l.limit_us AS end_latest_us, s.restart_count, s.resource_id, s.reason, s.message,
        s.event_count, s.seg_rank IN (6, 7) AS is_end_told
    FROM stage_container_segments AS s
    INNER JOIN stage_lives AS l ON s.pod_uid = l.pod_uid
    UNION ALL
    SELECT
        run_uuid, CAST(NULL AS VARCHAR) AS pod_uid, CAST(NULL AS VARCHAR) AS container, attempt,
        0 AS seg_rank, stage, CAST(NULL AS VARCHAR) AS step, start_us, start_basis, end_us,
        end_basis, CAST(NULL AS BIGINT) AS end_latest_us, CAST(NULL AS BIGINT) AS restart_count,
        CAST(NULL AS VARCHAR) AS resource_id, reason, CAST(NULL AS VARCHAR) AS message,
        CAST(NULL AS BIGINT) AS event_count, FALSE AS is_end_told
    FROM stage_run_segments
),

keyed AS (
    SELECT
        *,
        -- One run's submissions and pods are timelines of their own.
        row_id([
            id_text(run_uuid), id_text(CASE WHEN pod_uid IS NULL THEN attempt END),
            id_text(pod_uid), id_text(container)
        ]) AS timeline
    FROM segments
    WHERE start_us IS NOT NULL
),

ordered AS (
    SELECT
        k.* EXCLUDE (start_us, end_us),
        k.start_us,
        GREATEST(k.start_us, k.end_us) AS proven_us,
        LEAD(k.start_us) OVER timeline_order AS next_us,
        LEAD(k.start_basis) OVER timeline_order AS next_basis,
        ROW_NUMBER() OVER timeline_order AS place
    FROM keyed AS k
    WINDOW timeline_order AS (
        PARTITION BY k.timeline
        ORDER BY
            k.start_us, k.seg_rank, k.end_us, k.stage, k.step, k.start_basis, k.end_basis,
            k.restart_count, k.resource_id, k.reason, k.message, k.event_count
    )
),

-- A stage ends where the next one begins, at the latest.
closed AS (
    SELECT
        *,
        CASE
            WHEN next_us IS NULL THEN proven_us
            WHEN proven_us > next_us THEN next_us
            WHEN next_us - proven_us <= 1000000 AND pod_uid IS NOT NULL THEN next_us
            ELSE proven_us
        END AS closed_us,
        CASE
            WHEN next_us IS NOT NULL AND (
                proven_us > next_us OR (next_us - proven_us BETWEEN 1 AND 1000000
                AND pod_uid IS NOT NULL)
            )
                THEN next_basis
            ELSE end_basis
        END AS closed_basis
    FROM ordered
),

tiled AS (
    SELECT
        timeline, run_uuid, pod_uid, container, attempt, stage, step, start_us, start_basis,
        closed_us AS end_us, closed_basis AS end_basis,
        CASE WHEN closed_basis = 'last_seen' THEN end_latest_us ELSE closed_us END
            AS end_latest_us,
        restart_count, resource_id, reason, message, event_count, is_end_told
    FROM closed
    UNION ALL
    SELECT
        timeline, run_uuid, pod_uid, container, attempt, 'unknown' AS stage,
        CAST(NULL AS VARCHAR) AS step,
        closed_us AS start_us, closed_basis AS start_basis,
        next_us AS end_us, next_basis AS end_basis, next_us AS end_latest_us,
        restart_count,
        CAST(NULL AS VARCHAR) AS resource_id,
        CAST(NULL AS VARCHAR) AS reason,
        CAST(NULL AS VARCHAR) AS message,
        CAST(NULL AS BIGINT) AS event_count,
        FALSE AS is_end_told
    FROM closed
    WHERE next_us > closed_us AND pod_uid IS NOT NULL
),

-- What began before the look-back is as the day before said; today tells only when it ended.
of_span AS (
    SELECT
        t.* EXCLUDE (start_us, start_basis, stage, step, resource_id, reason, message),
        CASE WHEN c.pod_uid IS NULL THEN t.start_us ELSE c.start_us END AS start_us,
        COALESCE(c.start_basis, t.start_basis) AS start_basis,
        COALESCE(c.stage, t.stage) AS stage,
        CASE WHEN c.pod_uid IS NULL THEN t.step ELSE c.step END AS step,
        CASE WHEN c.pod_uid IS NULL THEN t.resource_id ELSE c.resource_id END AS resource_id,
        COALESCE(t.reason, c.reason) AS reason,
        COALESCE(t.message, c.message) AS message,
        COALESCE(c.start_earliest_us, t.start_us) AS start_earliest_us,
        COALESCE(c.start_latest_us, t.start_us) AS start_latest_us
    FROM tiled AS t
    CROSS JOIN bounds AS b
    LEFT JOIN stage_carried AS c
        ON t.pod_uid = c.pod_uid
        AND t.container IS NOT DISTINCT FROM c.container
        AND t.start_us < b.span_us
        AND t.end_us >= b.span_us
    WHERE t.start_us < t.end_us
),

of_day AS (
    SELECT
        s.*,
        s.end_us >= b.end_us AS is_open
    FROM of_span AS s
    CROSS JOIN bounds AS b
    WHERE s.start_us < b.end_us
)

SELECT
    row_id([
        id_text(CASE WHEN $cluster = $fleet THEN NULL ELSE CAST($cluster AS VARCHAR) END),
        id_text(COALESCE(d.run_uuid, l.run_uuid)), id_text(d.pod_uid), id_text(d.container),
        id_text(d.start_us)
    ]) AS stage_id,
    CASE WHEN $cluster <> $fleet THEN CAST($cluster AS VARCHAR) END AS cluster,
    COALESCE(d.run_uuid, l.run_uuid) AS run_uuid,
    CAST(COALESCE(d.attempt, l.attempt) AS BIGINT) AS attempt,
    l.namespace,
    l.pod_name,
    d.pod_uid,
    CASE
        WHEN d.container IS NULL AND d.stage IN ('admission', 'scheduling') THEN NULL
        ELSE l.node
    END AS node,
    d.container,
    c.container_role,
    d.stage,
    d.step,
    make_timestamptz(d.start_us) AS start_at,
    CASE WHEN NOT d.is_open THEN make_timestamptz(d.end_us) END AS end_at,
    d.start_basis,
    CASE WHEN d.is_open THEN 'open' ELSE d.end_basis END AS end_basis,
    make_timestamptz(d.start_earliest_us) AS start_earliest_at,
    make_timestamptz(d.start_latest_us) AS start_latest_at,
    CASE WHEN NOT d.is_open THEN make_timestamptz(d.end_us) END AS end_earliest_at,
    CASE
        WHEN d.is_open OR d.end_latest_us IS NULL OR d.end_latest_us >= b.end_us THEN NULL
        ELSE make_timestamptz(GREATEST(d.end_latest_us, d.end_us))
    END AS end_latest_at,
    d.restart_count,
    -- What ended a stage behind the day is not known on it.
    CASE WHEN NOT (d.is_open AND d.is_end_told) THEN d.reason END AS reason,
    CASE WHEN NOT (d.is_open AND d.is_end_told) THEN d.message END AS message,
    d.resource_id,
    d.event_count
FROM of_day AS d
CROSS JOIN bounds AS b
LEFT JOIN stage_lives AS l ON d.pod_uid = l.pod_uid
LEFT JOIN stage_containers AS c ON d.pod_uid = c.pod_uid AND d.container = c.container
WHERE d.end_us > b.start_us
