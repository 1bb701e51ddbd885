-- Look-ups of pods as attempts, each with the name that was asked. What two sources saw counts once:
-- per pod, name, type and hour the source that saw most counts.
-- Grain: one look-up of one pod.
-- Reads: dns_lookups, match_output.
-- Parameters: $names_from, $day_end.
WITH asked AS (
    SELECT
        m.cluster, m.pod_uid, m.run_uuid, m.attempt, m.match_kind,
        d.query_name, d.original_query_name, d.query_type, d.rcode, d.is_response, d.source_format,
        d.record_id,
        epoch_us(d.event_at) AS end_us,
        epoch_us(d.event_at) - CAST(
            ROUND(LEAST(GREATEST(COALESCE(d.latency_seconds, 0), 0), 3600) * 1000000) AS BIGINT
        ) AS begin_us,
        epoch_us(d.event_at) // 3600000000 AS hour_number
    FROM dns_lookups AS d
    INNER JOIN match_output AS m
        ON m.item_id = row_id([
            id_text(d.cluster), id_text(d.client_address), id_text(d.client_namespace),
            id_text(d.client_pod_name), id_text(d.client_pod_uid),
            id_text(epoch_us(d.event_at) // 1000000)
        ])
    WHERE
        m.pod_uid IS NOT NULL
        AND d.event_at >= CAST($names_from AS TIMESTAMPTZ)
        AND d.event_at < CAST($day_end AS TIMESTAMPTZ)
),

counted AS (
    SELECT
        cluster, pod_uid, query_name, query_type, hour_number, source_format,
        COUNT(*) AS lookup_count
    FROM asked
    GROUP BY cluster, pod_uid, query_name, query_type, hour_number, source_format
),

chosen AS (
    SELECT *
    FROM counted
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY cluster, pod_uid, query_name, query_type, hour_number
        ORDER BY lookup_count DESC, source_format
    ) = 1
)

SELECT
    a.* EXCLUDE (hour_number),
    CASE
        WHEN NOT a.is_response OR a.rcode IS NULL THEN 'timeout'
        WHEN a.rcode = 'NOERROR' THEN 'ok'
        ELSE 'name_failure'
    END AS outcome,
    -- A name that does not exist with a search suffix says nothing of the name.
    a.rcode = 'NXDOMAIN' AND a.original_query_name <> a.query_name AS is_suffixed
FROM asked AS a
INNER JOIN chosen AS c
    ON a.cluster = c.cluster
    AND a.pod_uid = c.pod_uid
    AND a.query_name = c.query_name
    AND a.query_type IS NOT DISTINCT FROM c.query_type
    AND a.hour_number = c.hour_number
    AND a.source_format = c.source_format
