-- Events of tuples that may hold several connections, each with the number of its connection.
-- Grain: one event.
-- Reads: connection_sides.
-- Parameters: $from_at (start of the look-back), $until_at (skew guard behind the day),
--   $opening_us, $silence_us, $neighbour_us.
WITH events AS (
    SELECT
        *,
        initiator_namespace || '/' || initiator_pod_name AS initiator_name,
        responder_namespace || '/' || responder_pod_name AS responder_name
    FROM connection_sides
    WHERE is_complex AND event_at >= $from_at AND event_at < $until_at
),

ordered AS (
    SELECT
        *,
        ROW_NUMBER() OVER earlier = 1 AS is_first,
        event_us - LAG(event_us) OVER earlier > CAST($silence_us AS BIGINT) AS is_behind_silence,
        MAX(CASE WHEN is_ending THEN event_us END) OVER before AS ended_us,
        LAST_VALUE(initiator_name IGNORE NULLS) OVER before AS old_initiator_name,
        LAST_VALUE(responder_name IGNORE NULLS) OVER before AS old_responder_name,
        -- A trace point that knows no name speaks through its neighbours.
        COALESCE(initiator_name, MIN(initiator_name) OVER around) AS new_initiator_name,
        COALESCE(responder_name, MIN(responder_name) OVER around) AS new_responder_name
    FROM events
    WINDOW
        earlier AS (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
        ),
        before AS (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        around AS (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us
            RANGE BETWEEN CURRENT ROW AND CAST($neighbour_us AS BIGINT) FOLLOWING
        )
),

marked AS (
    SELECT
        *,
        COALESCE(
            new_initiator_name <> old_initiator_name OR new_responder_name <> old_responder_name,
            FALSE
        ) AS is_other_pod,
        MAX(CASE WHEN is_behind_silence THEN event_us END) OVER (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS UNBOUNDED PRECEDING
        ) AS silent_until_us,
        MAX(CASE WHEN is_opening OR is_first THEN event_us END) OVER (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS opened_us,
        MAX(CASE WHEN is_opening THEN event_us END) OVER (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS last_opening_us
    FROM ordered
),

-- Which events begin another connection, and which open it once more.
judged AS (
    SELECT
        *,
        CASE
            WHEN transport = 'TCP'
                THEN is_opening
                AND COALESCE(event_us - opened_us > CAST($opening_us AS BIGINT), FALSE)
                AND (
                    COALESCE(ended_us >= opened_us, FALSE)
                    OR COALESCE(silent_until_us > opened_us, FALSE)
                    OR is_other_pod
                )
            ELSE COALESCE(is_behind_silence, FALSE)
        END AS begins,
        is_opening
        AND COALESCE(event_us - last_opening_us > CAST($opening_us AS BIGINT), TRUE)
            AS is_attempt
    FROM marked
),

-- The earliest instant whose events belong to the beginning connection.
bounded AS (
    SELECT
        *,
        CASE
            WHEN begins AND transport = 'TCP'
                THEN LEAST(
                    event_us,
                    GREATEST(
                        event_us - CAST($neighbour_us AS BIGINT),
                        ended_us + CAST($neighbour_us AS BIGINT) + 1,
                        CASE WHEN is_other_pod THEN MAX(
                            CASE
                                WHEN initiator_name IS NOT NULL OR responder_name IS NOT NULL
                                    THEN event_us
                            END
                        ) OVER (
                            PARTITION BY tuple, initiator_is_a
                            ORDER BY event_us, is_opening DESC, record_id
                            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                        ) + 1 END
                    )
                )
            WHEN begins THEN event_us
        END AS bound_us
    FROM judged
)

SELECT
    * EXCLUDE (
        initiator_name, responder_name, is_first, is_behind_silence, ended_us, old_initiator_name,
        old_responder_name, new_initiator_name, new_responder_name, is_other_pod, silent_until_us,
        opened_us, last_opening_us, begins, bound_us
    ),
    COUNT(*) FILTER (WHERE begins) OVER (
        PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
        ROWS UNBOUNDED PRECEDING
    ) + CASE
        WHEN NOT begins AND event_us >= FIRST_VALUE(bound_us IGNORE NULLS) OVER (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) THEN 1
        ELSE 0
    END AS segment
FROM bounded
