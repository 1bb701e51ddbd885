-- Attempts of pods of whose stages something is to be told. A log that cuts its times to whole
-- seconds lets a request seem to begin before its look-up and its connection were answered, and
-- before the request ahead of it was. It began within its second, behind all of these where that is
-- possible. `logged_end_us` is its end as the log has it.
-- Grain: one attempt.
-- Reads: attempts, attempt_pods.
WITH known AS (
    SELECT a.*, a.activity = 'object_access' AND a.begin_us % 1000000 = 0 AS is_cut
    FROM attempts AS a
    INNER JOIN attempt_pods AS p ON a.cluster = p.cluster AND a.pod_uid = p.pod_uid
),

ready AS (
    SELECT
        *,
        CASE
            WHEN is_cut
                THEN GREATEST(
                    begin_us,
                    MAX(CASE WHEN activity <> 'object_access' AND outcome = 'ok' THEN end_us END)
                        OVER (
                            PARTITION BY cluster, pod_uid
                            ORDER BY CASE WHEN is_cut THEN begin_us ELSE end_us END
                            RANGE BETWEEN CURRENT ROW AND 999999 FOLLOWING
                        )
                )
            ELSE begin_us
        END AS ready_us,
        COALESCE(
            SUM(end_us - begin_us) OVER (
                PARTITION BY cluster, pod_uid, container, activity, resource_id
                ORDER BY begin_us, end_us, order_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            0
        ) AS spent_us
    FROM known
),

delayed AS (
    SELECT
        * EXCLUDE (ready_us, spent_us),
        spent_us - begin_us + MAX(ready_us - spent_us) OVER (
            PARTITION BY cluster, pod_uid, container, activity, resource_id
            ORDER BY begin_us, end_us, order_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS delay_us
    FROM ready
)

SELECT * REPLACE (begin_us + shift_us AS begin_us, end_us + shift_us AS end_us)
FROM (
    SELECT
        * EXCLUDE (delay_us),
        end_us AS logged_end_us,
        CAST(CASE WHEN is_cut AND delay_us < 1000000 THEN delay_us ELSE 0 END AS BIGINT) AS shift_us
    FROM delayed
)
