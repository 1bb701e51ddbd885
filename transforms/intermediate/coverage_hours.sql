-- What deliveries say of each hour of the day for logs that are judged by the hour, as statements.
-- Grain: one statement of one source and hour.
-- Reads: source_formats (source, format: registered by the module), deliveries, export_files,
--   all_object_requests, all_dns_lookups, volume_records, coverage_losses, coverage_lookups,
--   coverage_lookup_nodes, pod_intervals, node_coverage (earlier days).
-- Parameters: $scope (cluster, or null for the fleet), $owner, $date, $day_start, $day_end,
--   $final_after (interval), $sources (the tables that this scope's exports can fill).
WITH hours AS (
    SELECT
        UNNEST(GENERATE_SERIES(0, 23)) AS hour_of_day
),

hour_times AS (
    SELECT
        CAST($day_start AS TIMESTAMPTZ) + TO_HOURS(CAST(hour_of_day AS BIGINT)) AS start_at,
        CAST($day_start AS TIMESTAMPTZ) + TO_HOURS(CAST(hour_of_day + 1 AS BIGINT)) AS end_at
    FROM hours
),

tables AS (
    SELECT UNNEST(CAST($sources AS VARCHAR[])) AS source_table
),

-- Which exports fill which table: by their format in the settings, or that of their files.
exports AS (
    SELECT DISTINCT s.source_table, d.export
    FROM deliveries AS d
    INNER JOIN source_formats AS s ON d.format = s.format
    WHERE d.cluster = $owner
    UNION
    SELECT DISTINCT s.source_table, f.export
    FROM export_files AS f
    INNER JOIN source_formats AS s ON f.format = s.format
    WHERE f.cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
),

-- Buckets count apart: those that a log names in the look-back, and those of earlier days.
bucket_exports AS (
    SELECT DISTINCT o.bucket, g.export
    FROM (
        SELECT DISTINCT export_file_id, bucket
        FROM all_object_requests
        WHERE cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR) AND bucket IS NOT NULL
    ) AS o
    INNER JOIN export_files AS f ON o.export_file_id = f.export_file_id
    -- An export delivers what it brought a copy of, too.
    INNER JOIN export_files AS g
        ON f.content_hash = g.content_hash
        AND f.format = g.format
        AND f.cluster IS NOT DISTINCT FROM g.cluster
),

buckets AS (
    SELECT bucket FROM bucket_exports
    UNION
    SELECT SUBSTRING(source, LEN('object_requests:') + 1) AS bucket
    FROM node_coverage
    WHERE cluster = $owner AND source LIKE 'object_requests:%'
),

sources AS (
    SELECT source_table AS source, source_table, CAST(NULL AS VARCHAR) AS bucket
    FROM tables
    WHERE source_table <> 'object_requests' OR NOT EXISTS (SELECT 1 FROM buckets)
    UNION ALL
    SELECT 'object_requests:' || b.bucket, t.source_table, b.bucket
    FROM buckets AS b
    INNER JOIN tables AS t ON t.source_table = 'object_requests'
),

-- A bucket is covered by any export that names it; where none does, only by all together.
sources_exports AS (
    SELECT s.source, e.export, s.bucket IS NOT NULL AND n.export IS NULL AS needs_all
    FROM sources AS s
    INNER JOIN exports AS e ON s.source_table = e.source_table
    LEFT JOIN bucket_exports AS n ON s.bucket = n.bucket AND e.export = n.export
    WHERE
        s.bucket IS NULL
        OR n.export IS NOT NULL
        OR s.bucket NOT IN (SELECT bucket FROM bucket_exports)
),

landed AS (
    SELECT
        export, landing_date, status, latest_event_at,
        MAX(landing_date) OVER () AS newest_landing_date
    FROM deliveries
    WHERE cluster = $owner
),

judged AS (
    SELECT
        x.export, h.start_at, h.end_at,
        MAX(l.latest_event_at) >= h.end_at AS has_later_record,
        MAX(l.newest_landing_date) >= CAST(h.end_at + CAST($final_after AS INTERVAL) AS DATE)
            AS is_awaited_no_more,
        COUNT(*) FILTER (WHERE l.status <> 'complete' AND is_needed) AS incomplete_count,
        COUNT(*) FILTER (WHERE l.status = 'missing' AND is_needed) AS missing_count,
        MIN(l.status) FILTER (WHERE l.status <> 'complete' AND is_needed) AS worst_status
    FROM (SELECT DISTINCT export FROM sources_exports) AS x
    CROSS JOIN hour_times AS h
    LEFT JOIN (
        SELECT
            l.*, h.start_at AS hour_start_at,
            l.landing_date BETWEEN CAST(h.start_at AS DATE)
                AND CAST(h.end_at + CAST($final_after AS INTERVAL) AS DATE) AS is_needed
        FROM landed AS l
        CROSS JOIN hour_times AS h
    ) AS l ON x.export = l.export AND h.start_at = l.hour_start_at
    GROUP BY x.export, h.start_at, h.end_at
),

verdicts AS (
    SELECT
        s.source, s.needs_all, j.export, j.start_at, j.end_at,
        CASE
            WHEN COALESCE(is_awaited_no_more, FALSE) AND missing_count > 0 THEN 'missing'
            WHEN NOT COALESCE(is_awaited_no_more, FALSE) THEN 'unknown'
            WHEN incomplete_count > 0 THEN 'unknown'
            WHEN NOT COALESCE(has_later_record, FALSE) THEN 'unknown'
            WHEN k.status IS NOT NULL AND s.source = 'dns_lookups' THEN k.status
            ELSE 'covered'
        END AS status,
        CASE
            WHEN COALESCE(is_awaited_no_more, FALSE) AND missing_count > 0
                THEN 'a delivery is missing'
            WHEN NOT COALESCE(is_awaited_no_more, FALSE) THEN 'deliveries are still awaited'
            WHEN incomplete_count > 0 THEN 'a delivery is ' || REPLACE(worst_status, '_', ' ')
            WHEN NOT COALESCE(has_later_record, FALSE) THEN 'no record later than the hour'
            WHEN s.source = 'dns_lookups' THEN k.reason
        END AS reason
    FROM judged AS j
    INNER JOIN sources_exports AS s ON j.export = s.export
    LEFT JOIN coverage_lookups AS k ON j.export = k.export
),

-- Exports that fill one table are united: the best counts, or the worst where all are needed.
united AS (
    SELECT
        v.source, v.start_at, v.end_at,
        ARG_MAX(
            {'status': v.status, 'reason': v.reason || ' (' || v.export || ')'},
            {
                'grade': CASE WHEN v.needs_all THEN -1 ELSE 1 END
                    * LIST_POSITION(['missing', 'unknown', 'masked', 'covered'], v.status),
                'export': v.export
            }
        ) AS verdict
    FROM verdicts AS v
    GROUP BY v.source, v.start_at, v.end_at
),

-- Where caches speak for some nodes, every node is judged for itself.
places AS (
    SELECT node FROM coverage_lookup_nodes
    UNION
    SELECT node
    FROM pod_intervals
    WHERE
        date = CAST($date AS DATE) AND cluster = $owner AND node IS NOT NULL
        AND EXISTS (SELECT 1 FROM coverage_lookup_nodes)
),

placed AS (
    SELECT s.source, s.source_table, p.node
    FROM sources AS s
    LEFT JOIN places AS p ON s.source = 'dns_lookups'
),

-- Hubble's proxy sees the look-ups of endpoints that a DNS policy selects.
proxied AS (
    SELECT COUNT(*) > 0 AS has_lookup
    FROM all_dns_lookups
    WHERE
        cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
        AND source_format = 'hubble'
        AND event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
),

hubble AS (
    SELECT COUNT(*) > 0 AS is_delivered
    FROM (
        SELECT export FROM deliveries WHERE cluster = $owner AND format = 'hubble'
        UNION ALL
        SELECT export
        FROM export_files
        WHERE format = 'hubble' AND cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
    ) AS exports_of_hubble
),

sampled AS (
    SELECT
        h.start_at, h.end_at,
        CASE
            WHEN r.scaled = 'scaled' THEN 'records are estimates of the source, made from samples'
            WHEN r.scaled = 'unknown' THEN 'records may be sampled, at a rate that is not stated'
            ELSE 'records are sampled'
        END AS reason,
        CASE WHEN r.scaled = 'unknown' THEN 'unknown' ELSE 'sampled' END AS status,
        -- What the source scaled was sampled at a rate that only it knows.
        MAX(r.sampling_interval) FILTER (WHERE r.scaled = 'raw') AS sampled_one_in
    FROM hour_times AS h
    INNER JOIN volume_records AS r ON r.start_at < h.end_at AND r.end_at > h.start_at
    WHERE
        (r.sampling_interval > 1 OR r.scaled <> 'raw')
        AND r.cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
    GROUP BY h.start_at, h.end_at, reason, status
)

SELECT
    s.source, s.node,
    epoch_us(h.start_at) AS start_us, epoch_us(h.end_at) AS end_us,
    2 AS rank,
    CASE
        WHEN u.verdict IS NOT NULL THEN u.verdict.status
        WHEN s.source = 'dns_lookups' AND e.is_delivered AND NOT x.has_lookup THEN 'missing'
        ELSE 'unknown'
    END AS status,
    CASE
        WHEN u.verdict IS NOT NULL THEN u.verdict.reason
        WHEN s.source = 'dns_lookups' AND e.is_delivered AND NOT x.has_lookup
            THEN 'Hubble tells no look-up: no policy sends DNS through its proxy'
        WHEN s.source = 'dns_lookups' AND e.is_delivered
            THEN 'Hubble tells only look-ups that a policy sends through its proxy'
        ELSE 'no export of this table is known'
    END AS reason,
    CAST(NULL AS BIGINT) AS lost_count,
    CAST(0 AS BIGINT) AS masked_count,
    CAST(NULL AS BIGINT) AS sampled_one_in
FROM placed AS s
CROSS JOIN hour_times AS h
CROSS JOIN proxied AS x
CROSS JOIN hubble AS e
LEFT JOIN united AS u ON s.source = u.source AND h.start_at = u.start_at
UNION ALL
SELECT
    'volume_records', NULL, epoch_us(start_at), epoch_us(end_at), 4, status,
    reason, NULL, 0, sampled_one_in
FROM sampled
WHERE 'volume_records' IN (SELECT source_table FROM tables)
UNION ALL
SELECT
    s.source, s.node, l.start_us, l.end_us,
    CASE l.kind WHEN 'sampled' THEN 4 WHEN 'rotated_away' THEN 6 ELSE 5 END,
    CASE l.kind WHEN 'sampled' THEN 'sampled' WHEN 'rotated_away' THEN 'missing' ELSE 'lossy' END,
    l.reason, l.lost_count, 0, NULL
FROM coverage_losses AS l
INNER JOIN placed AS s
    ON l.source = s.source_table
    AND (s.node IS NULL OR l.node IS NULL OR s.node = l.node)
WHERE l.source <> 'flows'
UNION ALL
SELECT
    'dns_lookups', node, epoch_us(CAST($day_start AS TIMESTAMPTZ)),
    epoch_us(CAST($day_end AS TIMESTAMPTZ)), 5, 'masked',
    'only the node asked: a cache may speak for its pods', NULL, 0, NULL
FROM coverage_lookup_nodes
WHERE 'dns_lookups' IN (SELECT source_table FROM tables)
