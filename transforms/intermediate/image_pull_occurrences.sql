-- The times at which each event is known to have happened, in the order in which the kubelet does
-- things within one second, cut into pulls.
-- A pull ends with `pulled` or `present`. It also ends, unseen, where the container is pulled
-- again without a failure in between: the spam filter drops events.
-- Grain: one known occurrence of one series.
-- Reads: image_pull_states, image_pull_series.
-- Parameters: $span_start, $day_end.
WITH times AS (
    SELECT series_id, first_at AS happened_at FROM image_pull_states
    UNION
    SELECT series_id, last_at AS happened_at FROM image_pull_states
),

occurrences AS (
    SELECT
        t.happened_at,
        s.series_id, s.namespace, s.pod_name, s.pod_uid, s.container, s.kind, s.image,
        -- Without a container's name its image tells pulls of one pod apart.
        row_id([
            id_text(s.namespace), id_text(s.pod_name), id_text(s.pod_uid), id_text(s.container),
            CASE WHEN s.container IS NULL THEN id_text(s.image) ELSE '' END
        ]) AS puller_id,
        LIST_POSITION(
            ['pulling', 'failed', 'refused', 'backoff', 'pulled', 'present'], s.kind
        ) AS kind_ordinal
    FROM times AS t
    INNER JOIN image_pull_series AS s ON t.series_id = s.series_id
    WHERE
        t.happened_at >= CAST($span_start AS TIMESTAMPTZ)
        AND t.happened_at < CAST($day_end AS TIMESTAMPTZ)
        AND (s.container IS NOT NULL OR s.image IS NOT NULL)
),

neighbours AS (
    SELECT
        *,
        LAG(kind) OVER puller AS kind_before,
        MAX(CASE WHEN kind = 'pulling' THEN happened_at END) OVER (
            PARTITION BY puller_id ORDER BY happened_at, kind_ordinal, series_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS pulling_before_at
    FROM occurrences
    WINDOW puller AS (PARTITION BY puller_id ORDER BY happened_at, kind_ordinal, series_id)
),

-- Failures between two pulls may be known only by the ends of a series that spans them.
failures AS (
    SELECT DISTINCT
        o.puller_id, s.first_at, s.last_at
    FROM occurrences AS o
    INNER JOIN image_pull_series AS s ON o.series_id = s.series_id
    WHERE o.kind IN ('failed', 'refused', 'backoff')
),

repeated AS (
    SELECT DISTINCT n.puller_id, n.happened_at
    FROM neighbours AS n
    INNER JOIN failures AS f ON n.puller_id = f.puller_id
    WHERE
        n.kind = 'pulling'
        AND f.first_at <= n.happened_at
        AND f.last_at >= n.pulling_before_at
),

cut AS (
    SELECT
        n.*,
        CASE
            WHEN n.kind_before IS NULL OR n.kind_before IN ('pulled', 'present') THEN 1
            WHEN n.kind = 'pulling' AND n.pulling_before_at IS NOT NULL AND r.puller_id IS NULL
                THEN 1
            ELSE 0
        END AS begins
    FROM neighbours AS n
    LEFT JOIN repeated AS r
        ON n.kind = 'pulling' AND n.puller_id = r.puller_id AND n.happened_at = r.happened_at
)

SELECT
    * EXCLUDE (kind_before, pulling_before_at, begins),
    SUM(begins) OVER (
        PARTITION BY puller_id ORDER BY happened_at, kind_ordinal, series_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS pull_ordinal
FROM cut
