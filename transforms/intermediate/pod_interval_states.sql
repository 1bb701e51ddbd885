-- Pod states that a day may know, in an order that no file decides.
-- Grain: one state of a pod. `ordinal` counts a pod's states from its oldest; `fact_rank` counts
--   from the state whose undated facts (phase, labels, …) count most on this day: the newest one
--   observed by the day's end, …, then the earliest one observed later.
-- Reads: pod_states.
-- Parameters: $cluster, $span_start (start of the look-back), $day_end, $read_until (day's end and
--   skew guard).
WITH stated AS (
    SELECT
        *,
        GREATEST(
            created_at, scheduled_at, start_time_at, sandbox_ready_at, sandbox_ended_at,
            first_started_at, last_finished_at,
            LIST_MAX(LIST_TRANSFORM(conditions, LAMBDA c: c.transition_at))
        ) AS newest_fact_at
    FROM pod_states
    WHERE
        cluster = $cluster
        AND observed_at >= CAST($span_start AS TIMESTAMPTZ)
        AND created_at < CAST($day_end AS TIMESTAMPTZ)
),

-- A state was seen no earlier than the newest thing that it states (a path may name only a day).
seen AS (
    SELECT
        *,
        GREATEST(observed_at, newest_fact_at) AS seen_at,
        GREATEST(observed_at, newest_fact_at) < CAST($read_until AS TIMESTAMPTZ) AS is_of_day,
        COALESCE(phase IN ('Succeeded', 'Failed'), FALSE) AS is_terminal
    FROM stated
),

ordered AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY pod_uid
            ORDER BY
                seen_at, is_deleted, newest_fact_at, is_terminal, deletion_at NULLS FIRST,
                phase NULLS FIRST, record_id, export_file_id, record_index, row_index
        ) AS ordinal
    FROM seen
)

SELECT
    *,
    ROW_NUMBER() OVER (
        PARTITION BY pod_uid
        ORDER BY is_of_day DESC, CASE WHEN is_of_day THEN -ordinal ELSE ordinal END
    ) AS fact_rank
FROM ordered
