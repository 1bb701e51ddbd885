-- Spans within the stages that they colour, those of one cause and resource put together where they
-- meet. A span of a named container is that container's, and while the pod uploads the main one's
-- too; a span of no certain container is of the init or main container that was there, and while the
-- pod uploads of the sidecar, as no other runs then.
-- Grain: one stretch of one stage, cause and resource; `island` numbers them.
-- Reads: wait_spans, wait_stages.
WITH clipped AS (
    SELECT
        t.stage_id, s.rank, s.cause, s.resource_id, s.match_kind, s.container_kind, s.error,
        s.evidence_id, s.source,
        s.start_us AS span_us,
        GREATEST(s.start_us, t.start_us) AS start_us,
        LEAST(s.end_us, t.end_us) AS end_us
    FROM wait_spans AS s
    INNER JOIN wait_stages AS t
        ON s.cluster = t.cluster
        AND s.pod_uid = t.pod_uid
        AND t.is_painted
        AND s.start_us < t.end_us
        AND s.end_us > t.start_us
        AND (
            s.container = t.container
            OR (
                s.container IS NULL
                AND (t.container_role IN ('init', 'main') OR t.stage = 'upload')
            )
            OR (s.container IS NOT NULL AND t.stage = 'upload' AND t.container_role = 'main')
        )
),

marked AS (
    SELECT
        *,
        CASE
            WHEN start_us <= MAX(end_us) OVER (
                PARTITION BY stage_id, rank, resource_id
                ORDER BY start_us, end_us, evidence_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0
            ELSE 1
        END AS begins
    FROM clipped
),

-- Equal spans come in any order, so that they are counted together.
numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY stage_id, rank, resource_id
            ORDER BY start_us, end_us, evidence_id
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM marked
),

islands AS (
    SELECT
        stage_id, rank, resource_id, number,
        MIN(cause) AS cause,
        MIN(start_us) AS start_us,
        MAX(end_us) AS end_us,
        ARG_MIN(error, {'us': span_us, 'id': evidence_id}) FILTER (WHERE error IS NOT NULL)
            AS first_error,
        MIN(span_us) FILTER (WHERE error IS NOT NULL) AS error_us,
        MAX(pod_rung(match_kind)) AS match_rung,
        MAX(container_rung(container_kind)) AS container_rung,
        LIST(DISTINCT source) AS sources,
        -- The engine keeps the ten smallest only.
        MIN(evidence_id, 10) AS evidence_ids
    FROM numbered
    GROUP BY stage_id, rank, resource_id, number
)

SELECT
    *,
    ROW_NUMBER() OVER (
        ORDER BY stage_id, rank, resource_id, start_us
    ) AS island
FROM islands
