-- One pull of a container's image, or the finding that it was present.
-- Grain: pod, container, image, start.
-- Reads: image_pull_occurrences, image_pull_series, image_pull_containers.
-- Parameters: $day_start, $day_end.
WITH events AS (
    SELECT
        o.puller_id, o.pull_ordinal, o.happened_at, o.kind, o.kind_ordinal, o.series_id,
        o.happened_at >= CAST($day_start AS TIMESTAMPTZ) AS is_of_day,
        s.namespace, s.pod_name, s.pod_uid, s.container, s.node, s.run_uuid, s.attempt, s.image,
        s.message, s.stated_us, s.including_waiting_us, s.image_bytes
    FROM image_pull_occurrences AS o
    INNER JOIN image_pull_series AS s ON o.series_id = s.series_id
),

images AS (
    SELECT pod_uid, container, MIN(image) AS image
    FROM image_pull_containers
    GROUP BY pod_uid, container
    HAVING COUNT(DISTINCT image) = 1
),

pulls AS (
    SELECT
        puller_id, pull_ordinal,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MIN(pod_uid) AS pod_uid,
        MIN(container) AS container,
        MIN(node) AS node,
        MIN(run_uuid) AS run_uuid,
        MIN(attempt) AS attempt,
        ARG_MIN(image, {'t': happened_at, 'k': kind_ordinal, 's': series_id})
            FILTER (WHERE image IS NOT NULL) AS image,
        MIN(happened_at) FILTER (WHERE kind = 'pulling') AS pulling_at,
        MIN(happened_at)
            FILTER (WHERE kind IN ('failed', 'refused', 'backoff')) AS failing_at,
        MAX(happened_at) FILTER (WHERE kind = 'pulled') AS pulled_at,
        MAX(happened_at) FILTER (WHERE kind = 'present') AS present_at,
        MAX(happened_at) AS last_event_at,
        MAX(stated_us) AS stated_us,
        MAX(including_waiting_us) AS including_waiting_us,
        MAX(image_bytes) AS image_bytes,
        ARG_MIN(message, {'t': happened_at, 'k': kind_ordinal, 's': series_id})
            FILTER (WHERE kind IN ('failed', 'refused', 'backoff')) AS error_message,
        COUNT(*) FILTER (WHERE kind = 'pulling' AND is_of_day) AS pulling_count,
        COUNT(*) FILTER (WHERE kind = 'failed' AND is_of_day) AS failed_count,
        COUNT(*) FILTER (WHERE kind = 'refused' AND is_of_day) AS refused_count
    FROM events
    GROUP BY puller_id, pull_ordinal
),

-- Repetitions that the day's counts hold and no state shows. A finished pull without a known start
-- had one; the rest happened before the last known one of the day.
hidden AS (
    SELECT
        e.puller_id, e.kind,
        SUM(e.hidden_count) AS hidden_count,
        MAX(e.pull_ordinal) AS pull_ordinal
    FROM (
        SELECT
            o.puller_id, o.kind, o.series_id,
            GREATEST(MAX(s.day_count) - COUNT(*), 0) AS hidden_count,
            MAX(o.pull_ordinal) AS pull_ordinal
        FROM image_pull_occurrences AS o
        INNER JOIN image_pull_series AS s ON o.series_id = s.series_id
        WHERE o.happened_at >= CAST($day_start AS TIMESTAMPTZ)
        GROUP BY o.puller_id, o.kind, o.series_id
    ) AS e
    GROUP BY e.puller_id, e.kind
),

-- Without a known start it is the end less the time that the kubelet says it took.
timed AS (
    SELECT
        *,
        COALESCE(
            pulling_at, failing_at,
            pulled_at - TO_MICROSECONDS(COALESCE(including_waiting_us, stated_us, 0)),
            present_at
        ) AS start_at,
        COALESCE(pulled_at, present_at) AS end_at,
        pulled_at IS NOT NULL
            AND pulling_at IS NULL
            AND pulled_at >= CAST($day_start AS TIMESTAMPTZ) AS is_start_derived
    FROM pulls
),

derived AS (
    SELECT puller_id, SUM(CASE WHEN is_start_derived THEN 1 ELSE 0 END) AS derived_count
    FROM timed
    GROUP BY puller_id
),

totals AS (
    SELECT
        t.* EXCLUDE (image),
        COALESCE(t.image, i.image) AS image,
        t.pulling_count
            + CASE WHEN t.is_start_derived THEN 1 ELSE 0 END
            + COALESCE(GREATEST(p.hidden_count - d.derived_count, 0), 0) AS attempt_count,
        GREATEST(
            t.failed_count + COALESCE(f.hidden_count, 0),
            t.refused_count + COALESCE(r.hidden_count, 0)
        ) AS error_count
    FROM timed AS t
    INNER JOIN derived AS d ON t.puller_id = d.puller_id
    LEFT JOIN images AS i ON t.pod_uid = i.pod_uid AND t.container = i.container
    LEFT JOIN hidden AS p
        ON p.kind = 'pulling' AND t.puller_id = p.puller_id AND t.pull_ordinal = p.pull_ordinal
    LEFT JOIN hidden AS f
        ON f.kind = 'failed' AND t.puller_id = f.puller_id AND t.pull_ordinal = f.pull_ordinal
    LEFT JOIN hidden AS r
        ON r.kind = 'refused' AND t.puller_id = r.puller_id AND t.pull_ordinal = r.pull_ordinal
),

of_day AS (
    SELECT * FROM totals
    WHERE
        image IS NOT NULL
        AND start_at < CAST($day_end AS TIMESTAMPTZ)
        AND last_event_at >= CAST($day_start AS TIMESTAMPTZ)
),

-- Two pulls of one container that begin in one second are one row.
merged AS (
    SELECT
        namespace, pod_name, pod_uid, container, image, start_at,
        MIN(node) AS node,
        MIN(run_uuid) AS run_uuid,
        MIN(attempt) AS attempt,
        CASE WHEN BOOL_AND(end_at IS NOT NULL) THEN MAX(end_at) END AS end_at,
        BOOL_AND(pulled_at IS NULL AND pulling_at IS NULL AND present_at IS NOT NULL)
            AS was_present,
        BOOL_OR(error_message IS NOT NULL) AS has_failed,
        MIN(error_message) AS error_message,
        MAX(stated_us) AS stated_us,
        MAX(including_waiting_us) AS including_waiting_us,
        MAX(image_bytes) AS image_bytes,
        COUNT(*) FILTER (WHERE pulled_at IS NOT NULL) AS pulled_count,
        COUNT(*) AS pull_count,
        CAST(SUM(attempt_count) AS BIGINT) AS attempt_count,
        CAST(SUM(error_count) AS BIGINT) AS error_count
    FROM of_day
    GROUP BY namespace, pod_name, pod_uid, container, image, start_at
),

digests AS (
    SELECT
        m.pod_uid, m.container, m.image, m.start_at,
        ARG_MIN(
            g.image_digest,
            {
                'is_before': g.started_at < m.end_at - INTERVAL 2 SECOND,
                'distance': ABS(epoch_us(g.started_at) - epoch_us(m.end_at)),
                'digest': g.image_digest
            }
        ) AS image_digest
    FROM merged AS m
    INNER JOIN image_pull_containers AS g ON m.pod_uid = g.pod_uid AND m.container = g.container
    WHERE m.end_at IS NOT NULL AND g.image_digest IS NOT NULL
    GROUP BY m.pod_uid, m.container, m.image, m.start_at
)

SELECT
    ROW_NUMBER() OVER (
        ORDER BY m.namespace, m.pod_name, m.pod_uid, m.container, m.image, m.start_at
    ) AS pull_number,
    m.*,
    g.image_digest,
    CASE
        WHEN STRPOS(m.image, '/') = 0 THEN 'docker.io'
        WHEN REGEXP_MATCHES(SPLIT_PART(m.image, '/', 1), '[.:]|^localhost$')
            THEN SPLIT_PART(m.image, '/', 1)
        ELSE 'docker.io'
    END AS registry,
    m.pulled_count = 1 AND m.pull_count = 1 AND NOT m.has_failed AND m.attempt_count <= 1
        AS is_single
FROM merged AS m
LEFT JOIN digests AS g
    ON m.pod_uid = g.pod_uid
    AND m.container = g.container
    AND m.image = g.image
    AND m.start_at = g.start_at
