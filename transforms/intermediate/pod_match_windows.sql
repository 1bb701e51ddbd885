-- Windows in which a pod is known to live (by name and UID) and to hold an address.
-- Grain: one row of pod_intervals (several days of one interval give windows that overlap; later
--   steps count pods, not windows), numbered from 1 by `number`.
-- Reads: pod_intervals (one or more days, with `date`).
-- Parameters: $date (the built day; an interval left open on an older day speaks up to the end of
--   that day only).
SELECT
    ROW_NUMBER() OVER () AS number,
    cluster,
    pod_uid,
    namespace,
    pod_name,
    node,
    address,
    host_network,
    run_uuid,
    attempt,
    pod_interval_id,
    date AS known_on,
    epoch_us(LEAST(created_at, start_at)) AS life_start_us,
    epoch_us(start_at) AS start_us,
    CASE
        WHEN end_at IS NOT NULL THEN epoch_us(end_at)
        WHEN date >= CAST($date AS DATE) THEN 4000000000000000000
        ELSE epoch_us(CAST(date AS TIMESTAMP)) + 86400000000
    END AS end_us
FROM pod_intervals
