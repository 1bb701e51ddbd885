-- Bytes of flow records of the chosen source, by hour.
-- Grain: owner (a pod, else an address of no pod), direction, hour.
-- Reads: peer_traffic.
-- Parameters: $date.
SELECT
    pod_uid,
    CASE WHEN pod_uid IS NULL THEN cluster END AS cluster,
    CASE WHEN pod_uid IS NULL THEN local_address END AS local_address,
    direction,
    epoch_us(window_start_at) // 3600000000 AS hour_number,
    SUM(bytes) FILTER (WHERE measured_by = 'flow_record') AS flow_bytes,
    SUM(min_bytes) FILTER (WHERE measured_by = 'flow_record') AS min_flow_bytes,
    CASE
        WHEN
            COUNT(*) FILTER (WHERE measured_by = 'flow_record')
            = COUNT(max_bytes) FILTER (WHERE measured_by = 'flow_record')
            THEN SUM(max_bytes) FILTER (WHERE measured_by = 'flow_record')
    END AS max_flow_bytes,
    SUM(bytes) FILTER (WHERE measured_by <> 'flow_record') AS sampled_bytes,
    SUM(min_bytes) FILTER (WHERE measured_by <> 'flow_record') AS min_sampled_bytes,
    SUM(COALESCE(estimated_bytes, bytes)) FILTER (WHERE measured_by <> 'flow_record')
        AS estimated_bytes,
    -- Of several layers the sum is known for none but the widest.
    layer_of(MAX(layer_rank(byte_layer))) AS flow_byte_layer
FROM peer_traffic
WHERE date = CAST($date AS DATE) AND is_chosen
GROUP BY 1, 2, 3, 4, 5
