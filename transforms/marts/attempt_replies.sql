-- When connections were answered, whether that was a refusal, and whether they were only asked for.
-- Grain: one connection whose events were looked for.
-- Reads: attempt_flows.
SELECT
    connection_id,
    MIN(us) AS first_us,
    MAX(us) AS last_us,
    MIN(us) FILTER (WHERE is_reply) AS reply_us,
    -- What was accepted and reset in one microsecond was accepted.
    COALESCE(
        (MIN({'us': us, 'is_reset': is_reset}) FILTER (WHERE is_reply)).is_reset, FALSE
    ) AS is_refused,
    -- Asked again, and nothing but that: the first time to do so is a second later, while another
    -- observer tells of the same packet at once.
    BOOL_AND(is_opening) AND MAX(us) - MIN(us) >= 900000 AS is_repeated
FROM attempt_flows
GROUP BY connection_id
