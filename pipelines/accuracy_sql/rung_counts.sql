-- How often each rung of each ladder named something, per day.
-- Grain: date, cluster, table, ladder, rung.
-- Reads: connections, object_transfers, peer_traffic, counter_increments, pod_intervals (each with
--   `date`).
WITH rungs AS (
    SELECT date, cluster, 'connections' AS source, 'initiator pod' AS ladder,
        initiator_match_kind AS rung
    FROM connections
    UNION ALL
    SELECT date, cluster, 'connections' AS source, 'responder pod' AS ladder,
        responder_match_kind AS rung
    FROM connections
    WHERE peer_kind IN ('pod', 'node')
    UNION ALL
    SELECT date, cluster, 'connections' AS source, 'peer name' AS ladder, name_kind AS rung
    FROM connections
    WHERE peer_kind NOT IN ('pod', 'service', 'node', 'api_server')
    UNION ALL
    SELECT date, cluster, 'connections' AS source, 'container' AS ladder, container_kind AS rung
    FROM connections
    WHERE initiator_pod_uid IS NOT NULL
    UNION ALL
    SELECT date, COALESCE(cluster, 'fleet') AS cluster, 'object_transfers' AS source,
        'reader pod' AS ladder, match_kind AS rung
    FROM object_transfers
    UNION ALL
    SELECT date, cluster, 'peer_traffic' AS source, 'local pod' AS ladder, match_kind AS rung
    FROM peer_traffic
    UNION ALL
    SELECT date, cluster, 'counter_increments' AS source, 'counted pod' AS ladder,
        match_kind AS rung
    FROM counter_increments
    UNION ALL
    SELECT date, cluster, 'pod_intervals' AS source, 'run' AS ladder, run_match_kind AS rung
    FROM pod_intervals
)

SELECT
    date,
    cluster,
    source,
    ladder,
    rung,
    COUNT(*) AS row_count
FROM rungs
GROUP BY date, cluster, source, ladder, rung
