-- Directions of connections whose bytes are told since they began, and counters of pairs of ends.
-- Grain: one row of `volume_named` that tells such bytes, with a number for its series.
-- Reads: volume_named.
SELECT
    CAST(
        DENSE_RANK() OVER (
            ORDER BY
                cluster, source_format, name, series_id, source, source_port, destination,
                destination_port, transport, flow_direction, byte_layer
        ) AS INTEGER
    ) AS series,
    cluster,
    source_format,
    name,
    source,
    source_name,
    source_port,
    destination,
    destination_name,
    destination_port,
    transport,
    stated_distance,
    export_file_id,
    record_index,
    row_index,
    record_id,
    epoch_us(end_at) AS at_us,
    epoch_us(CASE WHEN series_id IS NULL THEN start_at ELSE counter_start_at END) AS stated_us,
    series_id IS NOT NULL AS is_counter,
    bytes AS value,
    packets,
    -- OBI forgets a series that was idle for 5 minutes, unless it is told otherwise.
    1000000 * COALESCE(
        expires_after_seconds,
        CASE WHEN REGEXP_MATCHES(metric, '^(obi|beyla)[._]') THEN 300 END
    ) AS forgets_after_us
FROM volume_named
WHERE temporality = 'cumulative' AND sample_kind IS NULL
