-- Pairs of ends that exchanged something on the day, with the orientation of events that tell none.
-- Grain: transport and two ends, whoever began. Numbers follow the first event, with those behind
--   that lasted long, so that a run of numbers has its events in a short time.
-- Reads: connection_events.
-- Parameters: $from_at (start of the look-back), $until_at (skew guard behind the day), $start_us
--   and $end_us (the day), $opening_us, $silence_us, $neighbour_us, $long_us.
WITH tuples AS (
    SELECT
        transport, a_address, a_port, b_address, b_port,
        MIN(event_us) AS first_us,
        MAX(event_us) AS last_us,
        MIN(event_us) FILTER (WHERE is_opening) AS first_opening_us,
        MAX(event_us) FILTER (WHERE is_opening) AS last_opening_us,
        BOOL_OR(source_is_initiator = source_is_a) AS a_began,
        BOOL_OR(source_is_initiator <> source_is_a) AS b_began,
        -- Of events at one instant the lower end counts as the first sender.
        MIN(event_us * 2 + CASE WHEN source_is_a THEN 0 ELSE 1 END) % 2 = 0 AS a_sent_first,
        BOOL_OR(dns_query IS NOT NULL) AS is_dns
    FROM connection_events
    WHERE event_at >= $from_at AND event_at < $until_at
    GROUP BY transport, a_address, a_port, b_address, b_port
    HAVING
        BOOL_OR(
            event_us >= CAST($start_us AS BIGINT) AND event_us < CAST($end_us AS BIGINT)
        )
),

judged AS (
    SELECT
        *,
        COALESCE(a_began, FALSE) AND COALESCE(b_began, FALSE) AS is_contradictory,
        CASE WHEN COALESCE(a_began, FALSE) <> COALESCE(b_began, FALSE)
            THEN COALESCE(a_began, FALSE) END AS told
    FROM tuples
)

SELECT
    CAST(
        ROW_NUMBER() OVER (ORDER BY last_us - first_us > CAST($long_us AS BIGINT), first_us)
        AS BIGINT
    ) AS tuple,
    transport,
    a_address,
    a_port,
    b_address,
    b_port,
    is_dns,
    first_us,
    last_us,
    COALESCE(
        told, CASE WHEN a_port > b_port THEN TRUE WHEN a_port < b_port THEN FALSE END, a_sent_first
    ) AS default_initiator_is_a,
    CASE WHEN told IS NULL AND a_port IS DISTINCT FROM b_port AND a_port IS NOT NULL
        AND b_port IS NOT NULL THEN 4 WHEN told IS NULL THEN 5 END AS default_rung,
    -- Everything else is one connection, which needs no look at its events' order.
    is_contradictory
    OR COALESCE(last_opening_us - first_opening_us > CAST($opening_us AS BIGINT), FALSE)
    OR CASE
        WHEN transport = 'TCP'
            THEN COALESCE(first_opening_us - first_us > CAST($neighbour_us AS BIGINT), FALSE)
        ELSE last_us - first_us > CAST($silence_us AS BIGINT)
    END AS is_complex
FROM judged
