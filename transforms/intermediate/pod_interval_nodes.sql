-- Zone and region of each node, from the newest state that the day may know.
-- Grain: one node.
-- Reads: node_states.
-- Parameters: $cluster, $span_start, $day_end, $read_until.
SELECT node, zone, region
FROM node_states
WHERE
    cluster = $cluster
    AND observed_at >= CAST($span_start AS TIMESTAMPTZ)
    AND COALESCE(created_at, observed_at) < CAST($day_end AS TIMESTAMPTZ)
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY node
    ORDER BY
        observed_at < CAST($read_until AS TIMESTAMPTZ) DESC,
        CASE
            WHEN observed_at < CAST($read_until AS TIMESTAMPTZ) THEN -epoch_us(observed_at)
            ELSE epoch_us(observed_at)
        END,
        zone, region, record_id
) = 1
