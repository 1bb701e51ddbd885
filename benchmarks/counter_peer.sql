-- The peer of bench_counters.py: growth between adjacent readings by DuckDB's plain lag.
-- Grain: one interval of one series of one observer.
-- Parameters: $readings (pattern of Parquet files).
-- A value that falls counts whole; repeated readings, known starts, gaps, stale readings and pods
-- are not looked at.
WITH neighbours AS (
    SELECT
        *,
        LAG(event_at) OVER by_time AS before_at,
        LAG(value) OVER by_time AS before_value
    FROM read_parquet($readings)
    WINDOW by_time AS (PARTITION BY series_id, observer ORDER BY event_at)
)

SELECT
    MD5(
        ARRAY_TO_STRING(
            [cluster, series_id, observer, CAST(EPOCH_US(before_at) AS VARCHAR)], CHR(31)
        )
    ) AS counter_increment_id,
    cluster,
    series_id,
    observer,
    namespace,
    pod_name,
    pod_uid,
    'uid' AS match_kind,
    node,
    interface,
    FALSE AS is_overlay,
    direction,
    byte_layer,
    before_at AS start_at,
    event_at AS end_at,
    before_at AS spread_start_at,
    event_at AS spread_end_at,
    CASE WHEN value < before_value THEN value ELSE value - before_value END AS bytes,
    value < before_value AS is_reset,
    FALSE AS is_gap,
    CASE WHEN value < before_value THEN 'reset' ELSE 'sample' END AS start_basis
FROM neighbours
WHERE before_at IS NOT NULL
