-- Growth of each series between adjacent readings (reference/counters.md 3.2).
-- Grain: one interval of one series of one observer that meets the day.
-- Reads: counter_samples, counter_series.
-- Parameters: $start_us and $end_us (the day), $look_back_us, $look_ahead_us.
WITH readings AS (
    SELECT
        n.series,
        n.temporality,
        epoch_us(s.event_at) AS at_us,
        MAX(s.value) AS value,
        MAX(epoch_us(s.counter_start_at)) FILTER (WHERE s.counter_start_at < s.event_at)
            AS stated_us
    FROM counter_samples AS s
    INNER JOIN counter_series AS n
        ON s.series_id = n.series_id
        AND s.observer = n.observer
        AND s.temporality = n.temporality
    WHERE
        s.sample_kind IS NULL
        AND epoch_us(s.event_at) >= CAST($start_us AS BIGINT) - 2 * CAST($look_back_us AS BIGINT)
        AND epoch_us(s.event_at) < CAST($end_us AS BIGINT) + CAST($look_ahead_us AS BIGINT)
    GROUP BY n.series, n.temporality, at_us
),

neighbours AS (
    SELECT
        *,
        LAG(at_us) OVER by_time AS before_us,
        LAG(value) OVER by_time AS before_value,
        LAG(stated_us) OVER by_time AS before_stated_us,
        LAG(at_us, 2) OVER by_time AS second_us,
        LAG(at_us, 3) OVER by_time AS third_us,
        LAG(at_us, 4) OVER by_time AS fourth_us
    FROM readings
    WINDOW by_time AS (PARTITION BY series ORDER BY at_us)
),

-- What lies further back than the look-back counts as absent (definitions.md 3).
reached AS (
    SELECT
        series, temporality, at_us, value, stated_us, before_stated_us,
        CASE WHEN at_us - before_us <= CAST($look_back_us AS BIGINT) THEN before_us END
            AS before_us,
        CASE WHEN at_us - before_us <= CAST($look_back_us AS BIGINT) THEN before_value END
            AS before_value,
        at_us - stated_us <= CAST($look_back_us AS BIGINT) AS is_start_reached,
        CASE
            WHEN at_us - second_us <= CAST($look_back_us AS BIGINT) THEN before_us - second_us
        END AS first_spacing_us,
        CASE
            WHEN at_us - third_us <= CAST($look_back_us AS BIGINT) THEN second_us - third_us
        END AS second_spacing_us,
        CASE
            WHEN at_us - fourth_us <= CAST($look_back_us AS BIGINT) THEN third_us - fourth_us
        END AS third_spacing_us
    FROM neighbours
),

-- A fresh reading is one before which the counter began from 0.
judged AS (
    SELECT
        *,
        at_us - before_us > 3 * GREATEST(
            LEAST(first_spacing_us, second_spacing_us),
            LEAST(GREATEST(first_spacing_us, second_spacing_us), third_spacing_us)
        ) AS is_gap,
        CASE
            WHEN before_us IS NULL
                THEN CASE WHEN is_start_reached THEN 'known_start' ELSE 'baseline' END
            WHEN stated_us > before_us OR (stated_us = before_us AND before_stated_us <> stated_us)
                THEN 'reset_known_start'
            WHEN value >= before_value THEN 'sample'
            WHEN
                CAST(before_value - value AS HUGEINT) * 8 < before_value
                AND stated_us IS NOT DISTINCT FROM before_stated_us
                THEN 'sample'
            ELSE 'reset'
        END AS basis
    FROM reached
    WHERE temporality = 'cumulative'
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

cumulative AS (
    SELECT
        series,
        CASE WHEN basis IN ('known_start', 'reset_known_start') THEN stated_us ELSE before_us END
            AS from_us,
        at_us AS until_us,
        CASE WHEN basis = 'sample' THEN GREATEST(value - largest_before, 0) ELSE value END
            AS bytes,
        basis = 'reset' AS is_reset,
        COALESCE(is_gap, FALSE) AS is_gap,
        basis AS start_basis,
        TRUE AS ends_at_reading
    FROM measured
    WHERE basis <> 'baseline'
),

-- Between a reading and a later start the counter may have counted more, which nothing shows.
hidden AS (
    SELECT
        series,
        before_us AS from_us,
        stated_us AS until_us,
        CAST(0 AS BIGINT) AS bytes,
        TRUE AS is_reset,
        COALESCE(is_gap, FALSE) AS is_gap,
        'sample' AS start_basis,
        FALSE AS ends_at_reading
    FROM judged
    WHERE basis = 'reset_known_start' AND stated_us > before_us
),

delta AS (
    SELECT
        series,
        COALESCE(stated_us, before_us, at_us - 1) AS from_us,
        at_us AS until_us,
        value AS bytes,
        FALSE AS is_reset,
        COALESCE(
            at_us - COALESCE(stated_us, before_us) > 3 * GREATEST(
                LEAST(first_spacing_us, second_spacing_us),
                LEAST(GREATEST(first_spacing_us, second_spacing_us), third_spacing_us)
            ),
            FALSE
        ) AS is_gap,
        'delta_start' AS start_basis,
        TRUE AS ends_at_reading
    FROM reached
    WHERE temporality = 'delta'
    -- Two delta readings with one start overlap: the longer one holds the other.
    QUALIFY ROW_NUMBER() OVER (PARTITION BY series, from_us ORDER BY at_us DESC) = 1
),

grown AS (
    SELECT * FROM cumulative
    UNION ALL
    SELECT * FROM hidden
    UNION ALL
    SELECT * FROM delta
)

SELECT *
FROM grown
WHERE from_us < CAST($end_us AS BIGINT) AND until_us > CAST($start_us AS BIGINT)
