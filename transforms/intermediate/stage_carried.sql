-- Stages that an earlier day published as open and that began before the look-back: marks and events
-- of their start are out of reach, and the day before is believed.
-- Grain: one container, or pod as a whole.
-- Reads: stages.
-- Parameters: $cluster, $date, $span_start.
SELECT
    pod_uid, container, stage, step, start_basis, resource_id, reason, message,
    epoch_us(start_at) AS start_us,
    epoch_us(start_earliest_at) AS start_earliest_us,
    epoch_us(start_latest_at) AS start_latest_us
FROM stages
WHERE
    cluster = $cluster
    AND pod_uid IS NOT NULL
    AND date < CAST($date AS DATE)
    AND end_at IS NULL
    AND start_at < CAST($span_start AS TIMESTAMPTZ)
QUALIFY ROW_NUMBER() OVER (PARTITION BY pod_uid, container ORDER BY date DESC, start_at DESC) = 1
