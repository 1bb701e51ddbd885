-- When connections were answered, and whether that was a refusal.
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
    ) AS is_refused
FROM attempt_flows
GROUP BY connection_id
