-- Bindings of the addresses asked for, cut into hours, within the time asked for.
-- Grain: binding, hour.
-- Reads: name_bindings, name_input.
WITH bounds AS (
    SELECT MIN(epoch_us(event_at)) AS from_us, MAX(epoch_us(event_at)) + 1 AS until_us
    FROM name_input
),

-- One binding may stand on two days; each row is true of its own.
bindings AS (
    SELECT DISTINCT
        n.cluster,
        n.scope,
        n.scope_id,
        n.address,
        n.name,
        n.canonical_name,
        epoch_us(n.first_answer_at) AS answer_us,
        GREATEST(epoch_us(n.start_at), b.from_us) AS live_from_us,
        LEAST(epoch_us(n.end_at), b.until_us) AS live_until_us
    FROM name_bindings AS n
    CROSS JOIN bounds AS b
    WHERE
        epoch_us(n.start_at) < b.until_us
        AND epoch_us(n.end_at) > b.from_us
        AND n.address IN (SELECT address FROM name_input)
)

SELECT
    *,
    UNNEST(RANGE(live_from_us // 3600000000, (live_until_us - 1) // 3600000000 + 1))
        AS hour_bucket
FROM bindings
