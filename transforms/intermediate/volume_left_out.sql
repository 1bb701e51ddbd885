-- Records over intervals that are no volume of their own: held back because they contradict what
-- their format declares (`kind` names it), or told by another record (`kind` is null).
-- Grain: one record, and the reason if it is held back.
-- Reads: volume_named, volume_false_deltas, volume_series, volume_false_totals, volume_growth,
--   volume_told_again.
WITH held AS (
    SELECT v.export_file_id, v.record_index, v.row_index, f.kind
    FROM volume_named AS v
    INNER JOIN volume_false_deltas AS f
        ON v.connection = f.connection
        -- Over midnight the day before says it: the build of that day does not see the next one.
        AND GREATEST(
            epoch_us(v.start_at) // 86400000000,
            (GREATEST(epoch_us(v.end_at), epoch_us(v.start_at) + 1) - 1) // 86400000000 - 1
        ) = f.day_number
    WHERE v.temporality = 'delta'
),

-- Readings of which nothing tells what the total grew by.
untold AS (
    SELECT g.series, g.until_us
    FROM volume_growth AS g
    LEFT JOIN volume_false_totals AS f
        ON g.series = f.series AND g.true_from_us // 86400000000 = f.day_number
    WHERE g.basis = 'baseline' OR (f.series IS NOT NULL AND g.basis <> 'hidden')
),

-- A difference beside the total that it is part of: what a lost report held is in the next total.
-- Where the total tells nothing, the difference does.
in_totals AS (
    SELECT v.export_file_id, v.record_index, v.row_index
    FROM volume_series AS s
    ANTI JOIN untold AS u ON s.series = u.series AND s.at_us = u.until_us
    INNER JOIN volume_named AS v
        ON s.export_file_id = v.export_file_id
        AND s.record_index = v.record_index
        AND s.source IS NOT DISTINCT FROM v.source
        AND s.source_port IS NOT DISTINCT FROM v.source_port
        AND s.destination IS NOT DISTINCT FROM v.destination
        AND s.destination_port IS NOT DISTINCT FROM v.destination_port
    WHERE v.temporality = 'delta'
),

totals AS (
    SELECT
        cluster, source_format, name, flow_id, source, source_port, destination,
        destination_port, transport, start_at, end_at, bytes, record_id, export_file_id,
        record_index, row_index,
        -- One pair of ports carries one connection at a time, but many requests.
        NOT is_named
        AND http_method IS NULL
        AND byte_layer <> 'body'
        AND source_port IS NOT NULL
        AND destination_port IS NOT NULL AS is_alone,
        -- What is written before the end counts from the beginning, as the last record does.
        CASE WHEN flow_id IS NULL THEN 1 ELSE ROW_NUMBER() OVER (
            PARTITION BY
                cluster, source_format, name, flow_id, source, source_port, destination,
                destination_port, transport, byte_layer, start_at
            ORDER BY end_at DESC, bytes DESC, record_id, row_index
        ) END AS place
    FROM volume_named
    WHERE temporality = 'per_connection_total' AND repeats IS NULL
),

reached AS (
    SELECT
        *,
        MAX(end_at) OVER (
            PARTITION BY
                cluster, source_format, name, source, source_port, destination, destination_port,
                transport
            ORDER BY start_at, end_at, record_id, row_index
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_at
    FROM totals
    WHERE place = 1 AND is_alone
),

islands AS (
    SELECT
        *,
        SUM(CASE WHEN start_at < reached_at THEN 0 ELSE 1 END) OVER (
            PARTITION BY
                cluster, source_format, name, source, source_port, destination, destination_port,
                transport
            ORDER BY start_at, end_at, record_id, row_index
            ROWS UNBOUNDED PRECEDING
        ) AS island
    FROM reached
),

seconds AS (
    SELECT export_file_id, record_index, row_index
    FROM islands
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY
            cluster, source_format, name, source, source_port, destination, destination_port,
            transport, island
        ORDER BY bytes DESC, start_at, end_at, record_id, row_index
    ) > 1
)

SELECT export_file_id, record_index, row_index, kind FROM held
UNION ALL
SELECT export_file_id, record_index, row_index, CAST(NULL AS VARCHAR) AS kind FROM in_totals
UNION ALL
SELECT export_file_id, record_index, row_index, CAST(NULL AS VARCHAR) AS kind FROM volume_told_again
UNION ALL
SELECT export_file_id, record_index, row_index, CAST(NULL AS VARCHAR) AS kind
FROM totals
WHERE place > 1
UNION ALL
SELECT export_file_id, record_index, row_index, 'second_observer' AS kind FROM seconds
