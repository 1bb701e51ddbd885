-- What the look-ups that an export told of the day are worth: a log that leaves out successes,
-- answers or clients shows no run's look-ups, however complete its files are.
-- Hubble's own events are left out: they are told by policy, not by the hour.
-- Grain: one export of which look-ups of the day are known.
-- Reads: all_dns_lookups, export_files, source_formats.
-- Parameters: $scope (cluster, or null for the fleet), $day_start, $day_end.
WITH told AS (
    SELECT
        export_file_id,
        COUNT(*) FILTER (WHERE is_response) AS response_count,
        COUNT(*) FILTER (WHERE rcode = 'NOERROR') AS success_count,
        COUNT(*) FILTER (WHERE is_response AND query_type = 'A') AS a_response_count,
        COUNT(*) FILTER (WHERE query_type = 'A' AND rcode = 'NOERROR') AS a_success_count,
        COUNT(answers) AS answer_count,
        COUNT(*) FILTER (WHERE client_address IS NOT NULL OR client_pod_name IS NOT NULL)
            AS client_count
    FROM all_dns_lookups
    WHERE
        cluster IS NOT DISTINCT FROM CAST($scope AS VARCHAR)
        AND event_at >= CAST($day_start AS TIMESTAMPTZ)
        AND event_at < CAST($day_end AS TIMESTAMPTZ)
    GROUP BY export_file_id
),

formats AS (
    SELECT format FROM source_formats WHERE source_table = 'dns_lookups'
),

-- An export delivers what it brought a copy of, too.
deliverers AS (
    SELECT DISTINCT f.export_file_id, g.export
    FROM export_files AS f
    INNER JOIN export_files AS g
        ON f.content_hash = g.content_hash
        AND f.format = g.format
        AND f.cluster IS NOT DISTINCT FROM g.cluster
    WHERE f.format IN (SELECT format FROM formats)
),

summed AS (
    SELECT
        d.export,
        SUM(t.response_count) AS response_count,
        SUM(t.success_count) AS success_count,
        SUM(t.a_response_count) AS a_response_count,
        SUM(t.a_success_count) AS a_success_count,
        SUM(t.answer_count) AS answer_count,
        SUM(t.client_count) AS client_count
    FROM told AS t
    INNER JOIN deliverers AS d ON t.export_file_id = d.export_file_id
    GROUP BY d.export
)

SELECT
    export,
    CASE
        WHEN client_count = 0 THEN 'masked'
        WHEN
            (response_count > 0 AND success_count = 0)
            OR (a_response_count > 0 AND a_success_count = 0)
            THEN 'unknown'
        WHEN answer_count = 0 THEN 'masked'
    END AS status,
    CASE
        WHEN client_count = 0 THEN 'no look-up names its client'
        WHEN response_count > 0 AND success_count = 0 THEN 'only failed look-ups are told'
        WHEN a_response_count > 0 AND a_success_count = 0
            THEN 'only failed look-ups of type A are told'
        WHEN answer_count = 0 THEN 'no look-up tells its answers'
    END AS reason
FROM summed
