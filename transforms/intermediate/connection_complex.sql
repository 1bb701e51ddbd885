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
        -- Names of the last 2 s may be those of the connection that begins.
        MAX(CASE WHEN initiator_name IS NOT NULL
            THEN {'event_us': event_us, 'name': initiator_name} END) OVER older
            AS old_initiator,
        MAX(CASE WHEN responder_name IS NOT NULL
            THEN {'event_us': event_us, 'name': responder_name} END) OVER older
            AS old_responder,
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
        older AS (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CAST($neighbour_us AS BIGINT) + 1 PRECEDING
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
            new_initiator_name <> old_initiator.name OR new_responder_name <> old_responder.name,
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

-- From when on events belong to the connection that begins, and under which names.
bounded AS (
    SELECT
        *,
        CASE
            WHEN begins
                THEN {
                    'from_us': CASE
                        WHEN transport <> 'TCP' THEN event_us
                        ELSE LEAST(
                            event_us,
                            GREATEST(
                                event_us - CAST($neighbour_us AS BIGINT),
                                ended_us + CAST($neighbour_us AS BIGINT) + 1
                            )
                        )
                    END,
                    'initiator_name': new_initiator_name,
                    'responder_name': new_responder_name
                }
        END AS bound
    FROM judged
),

counted AS (
    SELECT
        *,
        COUNT(*) FILTER (WHERE begins) OVER (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS UNBOUNDED PRECEDING
        ) AS begun,
        FIRST_VALUE(bound IGNORE NULLS) OVER (
            PARTITION BY tuple, initiator_is_a ORDER BY event_us, is_opening DESC, record_id
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) AS next_bound
    FROM bounded
)

SELECT
    * EXCLUDE (
        initiator_name, responder_name, is_first, is_behind_silence, ended_us, old_initiator,
        old_responder, new_initiator_name, new_responder_name, is_other_pod, silent_until_us,
        opened_us, last_opening_us, begins, bound, begun, next_bound
    ),
    begun + CASE
        WHEN
            NOT begins
            AND event_us >= next_bound.from_us
            AND COALESCE(initiator_name = next_bound.initiator_name, TRUE)
            AND COALESCE(responder_name = next_bound.responder_name, TRUE)
            THEN 1
        ELSE 0
    END AS segment
FROM counted
