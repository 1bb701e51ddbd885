-- Series as their observers name them, with a number in place of the long key.
-- Grain: one series of one observer.
-- Reads: counter_samples.
-- Parameters: $start_us and $end_us (the day), $look_back_us, $look_ahead_us.
-- A series has one temporality; readings that claim another one are left out, because no rule could
-- say what they mean beside the rest. So are values that were not read at their time.
WITH named AS (
    SELECT
        series_id,
        observer,
        MIN(temporality) AS temporality,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MIN(pod_uid) AS pod_uid,
        MIN(node) AS node,
        MIN(interface) AS interface,
        MIN(direction) AS direction,
        MIN(byte_layer) AS byte_layer
    FROM counter_samples
    WHERE
        sample_kind IS NULL
        AND epoch_us(event_at) >= CAST($start_us AS BIGINT) - 2 * CAST($look_back_us AS BIGINT)
        AND epoch_us(event_at) < CAST($end_us AS BIGINT) + CAST($look_ahead_us AS BIGINT)
    GROUP BY series_id, observer
)

SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY series_id, observer) AS INTEGER) AS series,
    *
FROM named
