-- Growth of each series between adjacent readings (reference/counters.md 3.2).
-- The rules are those of counter_kernel.py; in SQL, as what a reading grew by is told with its record.
-- Grain: one interval of one series that meets the day and whose end the build sees; of a reading
--   without one before it and without a start that the look-back reaches, the instant (`baseline`);
--   of one behind a restart also the time before the counter began anew (`hidden`, of no bytes).
-- Reads: volume_series.
-- Parameters: $start_us and $end_us (the day), $look_back_us, $look_ahead_us.
WITH readings AS (
    SELECT
        series,
        at_us,
        MIN(forgets_after_us) AS forgets_after_us,
        BOOL_OR(is_counter) AS is_counter,
        MAX(stated_us) FILTER (WHERE stated_us < at_us) AS stated_us,
        -- Of two values of one instant the greater counts.
        ARG_MAX(
            {'value': value, 'packets': packets, 'file': export_file_id, 'record': record_index,
             'row': row_index},
            {'value': value, 'packets': packets, 'id': record_id, 'row': row_index}
        ) AS told
    FROM volume_series
    WHERE
        at_us >= CAST($start_us AS BIGINT) - 2 * CAST($look_back_us AS BIGINT)
        AND at_us < CAST($end_us AS BIGINT) + CAST($look_ahead_us AS BIGINT)
    GROUP BY series, at_us
),

neighbours AS (
    SELECT
        series, at_us, forgets_after_us, is_counter, stated_us, told,
        told.value AS value,
        LAG(at_us) OVER by_time AS before_us,
        LAG(told.value) OVER by_time AS before_value,
        LAG(told.packets) OVER by_time AS before_packets,
        LAG(stated_us) OVER by_time AS before_stated_us,
        LAG(at_us, 2) OVER by_time AS second_us
    FROM readings
    WINDOW by_time AS (PARTITION BY series ORDER BY at_us)
),

-- What lies further back than the look-back counts as absent (definitions.md 3).
judged AS (
    SELECT
        *,
        CASE
            WHEN before_us IS NULL OR at_us - before_us > CAST($look_back_us AS BIGINT)
                THEN CASE
                    WHEN at_us - stated_us <= CAST($look_back_us AS BIGINT) THEN 'known_start'
                    ELSE 'baseline'
                END
            WHEN stated_us > before_us OR (stated_us = before_us AND before_stated_us <> stated_us)
                THEN 'new_start'
            WHEN at_us - before_us > forgets_after_us THEN 'forgotten'
            WHEN value >= before_value THEN 'sample'
            WHEN
                CAST(before_value - value AS HUGEINT) * 8 < before_value
                AND stated_us IS NOT DISTINCT FROM before_stated_us
                THEN 'sample'
            ELSE 'reset'
        END AS basis
    FROM neighbours
),

segments AS (
    SELECT
        *,
        SUM(CASE WHEN basis = 'sample' THEN 0 ELSE 1 END) OVER (
            PARTITION BY series ORDER BY at_us ROWS UNBOUNDED PRECEDING
        ) AS segment
    FROM judged
),

measured AS (
    SELECT
        *,
        MAX(value) OVER (
            PARTITION BY series, segment ORDER BY at_us
            RANGE BETWEEN CAST($look_back_us AS BIGINT) PRECEDING AND 1 PRECEDING
        ) AS largest_before
    FROM segments
),

began AS (
    SELECT
        *,
        CASE
            WHEN basis IN ('known_start', 'new_start') THEN stated_us
            WHEN basis = 'baseline' THEN at_us - 1
            -- It began anew within the spacing of readings, or at most the time of forgetting.
            WHEN basis = 'forgotten' THEN GREATEST(
                before_us, at_us - LEAST(before_us - second_us, forgets_after_us)
            )
            ELSE before_us
        END AS true_from_us
    FROM measured
),

grown AS (
    SELECT
        series,
        told,
        basis,
        true_from_us,
        at_us,
        at_us AS until_us,
        CASE WHEN basis = 'sample' THEN GREATEST(value - largest_before, 0) ELSE value END
            AS bytes,
        -- A series that was not read for a while is told from one that was forgotten by nothing.
        CASE WHEN basis = 'forgotten' AND value >= before_value THEN value - before_value END
            AS known_bytes,
        CASE
            WHEN basis <> 'sample' THEN told.packets
            WHEN told.packets >= before_packets THEN told.packets - before_packets
        END AS packets,
        basis IN ('reset', 'forgotten') AS hides_bytes
    FROM began
    UNION ALL
    -- A counter may have counted on until it began anew. A new start of a connection's total is
    -- another connection.
    SELECT
        series,
        told,
        'hidden' AS basis,
        before_us AS true_from_us,
        at_us,
        true_from_us AS until_us,
        0 AS bytes,
        0 AS known_bytes,
        0 AS packets,
        TRUE AS hides_bytes
    FROM began
    WHERE basis IN ('new_start', 'forgotten') AND is_counter AND true_from_us > before_us
),

seen AS (
    SELECT
        *,
        -- Days before this one did not see the reading.
        GREATEST(
            true_from_us,
            (at_us - CAST($look_ahead_us AS BIGINT)) // 86400000000 * 86400000000
        ) AS from_us
    FROM grown
)

SELECT
    series,
    told.file AS export_file_id,
    told.record AS record_index,
    told.row AS row_index,
    basis,
    true_from_us,
    from_us,
    until_us,
    bytes,
    COALESCE(known_bytes, bytes) AS certain_bytes,
    packets,
    hides_bytes
FROM seen
WHERE
    until_us > CAST($start_us AS BIGINT)
    AND from_us < CAST($end_us AS BIGINT)
    AND from_us < until_us
