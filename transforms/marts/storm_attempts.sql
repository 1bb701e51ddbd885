-- Storms of what pods tried: failures of one (pod, container, resource, error class) that follow
-- each other within 300 s, five at least.
-- Grain: one storm.
-- Reads: attempts.
-- Parameters: $day_start, $day_end.
WITH failures AS (
    SELECT *
    FROM attempts
    WHERE error_class IS NOT NULL AND begin_us < epoch_us(CAST($day_end AS TIMESTAMPTZ))
),

spaced AS (
    SELECT
        *,
        CASE
            WHEN begin_us - LAG(begin_us) OVER failing <= 300000000 THEN 0
            ELSE 1
        END AS begins
    FROM failures
    WINDOW failing AS (
        PARTITION BY cluster, pod_uid, container, resource_id, activity, error_class
        ORDER BY begin_us, order_id
    )
),

numbered AS (
    SELECT
        *,
        SUM(begins) OVER (
            PARTITION BY cluster, pod_uid, container, resource_id, activity, error_class
            ORDER BY begin_us, order_id
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM spaced
)

SELECT
    cluster, pod_uid, container, resource_id, activity, error_class,
    MIN(begin_us) AS start_us,
    MAX(begin_us) AS end_us,
    COUNT(*) AS failure_count,
    COUNT(*) FILTER (WHERE begin_us >= epoch_us(CAST($day_start AS TIMESTAMPTZ)))
        AS day_failure_count,
    ARG_MIN(error, {'us': begin_us, 'id': order_id}) FILTER (WHERE error IS NOT NULL)
        AS first_error,
    ARG_MIN(status, {'us': begin_us, 'id': order_id}) AS status,
    LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(denied_by)))) AS denied_by,
    pod_kind(MAX(pod_rung(match_kind))) AS match_kind,
    container_kind_of(MAX(container_rung(container_kind))) AS container_kind,
    LIST_SORT(LIST(DISTINCT source)) AS sources,
    LIST_SORT(MIN(evidence_id, 10)) AS evidence_ids
FROM numbered
GROUP BY cluster, pod_uid, container, resource_id, activity, error_class, number
HAVING COUNT(*) >= 5
