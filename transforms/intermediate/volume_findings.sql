-- What the day's records of bytes between two ends contradict or leave unknown.
-- A record counts on the day on which it begins, a reading on that on which it was read.
-- Grain: scope, format, observer, kind.
-- Reads: volume_named, volume_left_out, volume_series, volume_false_totals, volume_growth.
-- Parameters: $start_us and $end_us (the day).
WITH held_records AS (
    SELECT
        o.kind, v.temporality, v.cluster, v.source_format, v.name, v.source, v.source_name,
        v.source_port, v.destination, v.destination_name, v.destination_port, v.transport,
        v.stated_distance, v.record_id, v.bytes,
        epoch_us(v.start_at) AS from_us,
        epoch_us(v.end_at) AS until_us
    FROM volume_left_out AS o
    INNER JOIN volume_named AS v
        ON o.export_file_id = v.export_file_id
        AND o.record_index = v.record_index
        AND o.row_index = v.row_index
    WHERE o.kind IS NOT NULL
),

-- Of readings the largest counts: they hold each other.
held_readings AS (
    SELECT
        f.kind, 'cumulative' AS temporality, s.cluster, s.source_format, s.name, s.source,
        s.source_name, s.source_port, s.destination, s.destination_name, s.destination_port,
        s.transport, s.stated_distance, s.record_id,
        CASE
            WHEN ROW_NUMBER() OVER (PARTITION BY s.series ORDER BY s.value DESC, s.at_us) = 1
                THEN s.value
            ELSE 0
        END AS bytes,
        s.at_us AS from_us,
        s.at_us AS until_us
    FROM volume_series AS s
    INNER JOIN volume_false_totals AS f
        ON s.series = f.series AND s.at_us // 86400000000 = f.day_number
    WHERE s.at_us >= CAST($start_us AS BIGINT) AND s.at_us < CAST($end_us AS BIGINT)
),

-- What counters and totals of known meaning grew by at each reading.
grown AS (
    SELECT
        g.basis, v.temporality, v.cluster, v.source_format, v.name, v.source, v.source_name,
        v.source_port, v.destination, v.destination_name, v.destination_port, v.transport,
        v.stated_distance, v.record_id, g.bytes, g.until_us AS from_us, g.until_us,
        v.source IS NULL OR v.destination IS NULL AS lacks_address,
        v.scaled = 'unknown' OR COALESCE(v.sampling_interval > 1048576, FALSE) AS lacks_scale
    FROM volume_growth AS g
    ANTI JOIN volume_false_totals AS f
        ON g.series = f.series AND g.true_from_us // 86400000000 = f.day_number
    INNER JOIN volume_named AS v
        ON g.export_file_id = v.export_file_id
        AND g.record_index = v.record_index
        AND g.row_index = v.row_index
    WHERE g.basis <> 'hidden' AND v.repeats IS NULL
),

unknown_starts AS (
    SELECT
        'unknown_start' AS kind,
        * EXCLUDE (basis, lacks_address, lacks_scale)
    FROM grown
    WHERE basis = 'baseline'
),

-- What is in no row of peer_traffic, or in none that counts, for want of what it does not state.
lacking AS (
    SELECT
        CASE
            WHEN sample_kind IS NOT NULL THEN 'no_reading'
            WHEN is_remote_memory THEN 'remote_memory'
            WHEN source IS NULL OR destination IS NULL THEN 'no_address'
            ELSE 'unknown_scale'
        END AS kind,
        temporality, cluster, source_format, name, source, source_name, source_port, destination,
        destination_name, destination_port, transport, stated_distance, record_id,
        CASE
            WHEN
                temporality = 'cumulative'
                AND ROW_NUMBER() OVER (
                    PARTITION BY
                        cluster, source_format, name, series_id, source, source_port, destination,
                        destination_port, transport
                    ORDER BY bytes DESC, record_id, row_index
                ) > 1
                THEN 0
            ELSE bytes
        END AS bytes,
        epoch_us(start_at) AS from_us,
        epoch_us(end_at) AS until_us
    FROM volume_named
    WHERE
        repeats IS NULL
        AND epoch_us(start_at) >= CAST($start_us AS BIGINT)
        AND epoch_us(start_at) < CAST($end_us AS BIGINT)
        AND (
            sample_kind IS NOT NULL
            OR (
                temporality <> 'cumulative'
                AND (
                    is_remote_memory
                    OR source IS NULL
                    OR destination IS NULL
                    OR scaled = 'unknown'
                    OR sampling_interval > 1048576
                )
            )
        )
),

lacking_growth AS (
    SELECT
        CASE WHEN lacks_address THEN 'no_address' ELSE 'unknown_scale' END AS kind,
        * EXCLUDE (basis, lacks_address, lacks_scale)
        -- The first reading's bytes are those of `unknown_start`.
        REPLACE (CASE WHEN basis = 'baseline' THEN 0 ELSE bytes END AS bytes)
    FROM grown
    WHERE lacks_address OR lacks_scale
),

found AS (
    SELECT * FROM held_records
    UNION ALL BY NAME
    SELECT * FROM held_readings
    UNION ALL BY NAME
    SELECT * FROM unknown_starts
    UNION ALL BY NAME
    SELECT * FROM lacking
    UNION ALL BY NAME
    SELECT * FROM lacking_growth
),

told AS (
    SELECT
        *,
        COALESCE(transport || ' ', '')
        || COALESCE(source, source_name, 'unknown')
        || COALESCE(' port ' || CAST(source_port AS VARCHAR), '')
        || ' to '
        || COALESCE(destination, destination_name, 'unknown')
        || COALESCE(' port ' || CAST(destination_port AS VARCHAR), '')
        || COALESCE(' (' || stated_distance || ')', '') AS connection
    FROM found
    WHERE from_us >= CAST($start_us AS BIGINT) AND from_us < CAST($end_us AS BIGINT)
),

summed AS (
    SELECT
        kind, cluster, source_format, name, temporality,
        COUNT(*) AS record_count,
        COUNT(DISTINCT connection) AS connection_count,
        SUM(bytes) AS bytes,
        MIN(from_us) AS first_us,
        MAX(until_us) AS last_us,
        ARG_MAX(
            {'connection': connection, 'record': record_id},
            {'bytes': bytes, 'connection': connection, 'record': record_id}
        ) AS largest
    FROM told
    GROUP BY kind, cluster, source_format, name, temporality
)

SELECT
    row_id([
        id_text(COALESCE(cluster, 'fleet')), id_text(source_format), id_text(name), id_text(kind),
        id_text(temporality), CAST(CAST($start_us AS BIGINT) AS VARCHAR)
    ]) AS volume_finding_id,
    COALESCE(cluster, 'fleet') AS scope,
    cluster,
    source_format,
    name AS observer,
    kind,
    kind IN (
        'delta_only_grows', 'falls_like_delta', 'moving_start', 'interleaved_observers',
        'second_observer'
    ) AS is_contradiction,
    temporality,
    CASE kind
        WHEN 'delta_only_grows' THEN 'declared as differences, but only grow, as totals do'
        WHEN 'falls_like_delta' THEN 'declared as totals, but fall again and again'
        WHEN 'moving_start' THEN 'totals that grow although each begins where the last one ended'
        WHEN 'interleaved_observers' THEN 'records of several observers under one name'
        WHEN 'second_observer' THEN 'the same connection twice under one name: the smaller record'
        WHEN 'unknown_start' THEN 'a first reading of a counter that began before the look-back'
        WHEN 'no_reading' THEN 'values of a query''s steps, or without a time of their own'
        WHEN 'no_address' THEN 'an end without an address'
        WHEN 'remote_memory' THEN 'remote memory access (EFA), which passes no interface'
        ELSE 'sampled at a rate that is not known'
    END || '; the largest: ' || largest.connection AS detail,
    CAST(record_count AS BIGINT) AS record_count,
    CAST(connection_count AS BIGINT) AS connection_count,
    CAST(LEAST(bytes, 9223372036854775807) AS BIGINT) AS bytes,
    make_timestamptz(first_us) AS first_at,
    make_timestamptz(last_us) AS last_at,
    largest.record AS record_id
FROM summed
