-- Hubble's events of a day that are in no connection.
-- The remainder, which only the matched ends of connections tell, is what is left of all events
-- behind those of connections and those that tell their own reason.
-- Grain: reason and what the events still say.
-- Reads: flows, connections.
-- Parameters: $cluster, $date, $day_start, $day_end.
WITH classed AS (
    SELECT
        *,
        CASE
            WHEN agent_event IS NOT NULL THEN 'agent_event'
            WHEN flow_count IS NOT NULL THEN 'aggregated'
            WHEN event_type = 7 THEN 'socket'
            WHEN source_port = 53 OR destination_port = 53 THEN 'dns'
            WHEN source_address IS NULL OR destination_address IS NULL THEN 'masked'
            WHEN transport IS NULL OR transport NOT IN ('TCP', 'UDP', 'SCTP')
                THEN 'other_protocol'
            -- As connection_events.sql tells ends: labels count where the identity says nothing.
            WHEN
                source_identity = 4 OR destination_identity = 4
                OR (
                    LIST_CONTAINS(source_labels, 'reserved:health')
                    AND NOT COALESCE(
                        source_identity IN (1, 2, 6, 9, 10)
                        OR source_identity BETWEEN 256 AND 16777215,
                        FALSE
                    )
                )
                OR (
                    LIST_CONTAINS(destination_labels, 'reserved:health')
                    AND NOT COALESCE(
                        destination_identity IN (1, 2, 6, 9, 10)
                        OR destination_identity BETWEEN 256 AND 16777215,
                        FALSE
                    )
                )
                THEN 'health'
        END AS reason
    FROM flows
    WHERE
        cluster = $cluster
        AND event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
),

told AS (
    SELECT
        *,
        reason IN ('aggregated', 'masked') AS is_told
    FROM classed
),

grouped AS (
    SELECT
        reason,
        CASE WHEN is_told THEN node END AS node,
        CASE WHEN is_told THEN verdict END AS verdict,
        CASE WHEN is_told THEN source_namespace END AS source_namespace,
        CASE WHEN is_told THEN source_pod_name END AS source_pod_name,
        CASE WHEN is_told THEN destination_namespace END AS destination_namespace,
        CASE WHEN is_told THEN destination_pod_name END AS destination_pod_name,
        CASE WHEN is_told THEN destination_port END AS destination_port,
        COUNT(*) AS event_count,
        -- LEAST leaves nulls out.
        CASE
            WHEN COUNT(flow_count) > 0
                THEN CAST(
                    LEAST(SUM(CAST(flow_count AS HUGEINT)), 9223372036854775807) AS BIGINT
                )
        END AS flow_count,
        MIN(event_at) AS first_event_at,
        MAX(event_at) AS last_event_at
    FROM told
    GROUP BY ALL
),

rest AS (
    SELECT
        (SELECT COALESCE(SUM(event_count), 0) FROM grouped WHERE reason IS NULL)
        - (
            SELECT COALESCE(SUM(event_count), 0)
            FROM connections
            WHERE date = CAST($date AS DATE) AND cluster = $cluster
        ) AS event_count
),

parts AS (
    SELECT * FROM grouped WHERE reason IS NOT NULL
    UNION ALL BY NAME
    SELECT 'host_or_proxy' AS reason, CAST(event_count AS BIGINT) AS event_count
    FROM rest
    WHERE event_count > 0
)

SELECT
    row_id([
        id_text(CAST($cluster AS VARCHAR)), id_text(reason), id_text(node), id_text(verdict),
        id_text(source_namespace), id_text(source_pod_name), id_text(destination_namespace),
        id_text(destination_pod_name), id_text(destination_port)
    ]) AS unconnected_event_id,
    CAST($cluster AS VARCHAR) AS cluster,
    *
FROM parts
