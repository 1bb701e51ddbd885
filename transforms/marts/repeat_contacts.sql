-- Contacts of the look-back as fetches: what an attempt of a run received on a day from a host, or
-- from the one repository that the run declares and this host serves. A day on which no connection
-- began goes on with the contact of the day before.
-- Grain: cluster, run, attempt, thing and day.
-- Reads: repeat_hosts, repeat_declared, pod_intervals (days of the look-back).
-- Parameters: none.
WITH served AS (
    SELECT
        h.date, h.run_uuid, h.host, h.resource_kind,
        CASE WHEN COUNT(DISTINCT d.resource_id) = 1 THEN MIN(d.resource_id) END AS declared_id
    FROM (SELECT DISTINCT date, run_uuid, host, resource_kind FROM repeat_hosts) AS h
    INNER JOIN repeat_declared AS d
        ON h.date = d.date
        AND h.run_uuid = d.run_uuid
        AND h.resource_kind = d.resource_kind
        -- What a hub serves from many hosts is one repository's; a git host serves its own only.
        AND (d.host IS NULL OR d.host = h.host)
    GROUP BY h.date, h.run_uuid, h.host, h.resource_kind
),

places AS (
    SELECT
        cluster, pod_uid,
        CASE WHEN MIN(node) = MAX(node) THEN MIN(node) END AS node,
        CASE WHEN MIN(zone) = MAX(zone) THEN MIN(zone) END AS zone,
        CASE WHEN MIN(region) = MAX(region) THEN MIN(region) END AS region
    FROM pod_intervals
    WHERE pod_uid IN (SELECT UNNEST(pod_uids) FROM repeat_hosts)
    GROUP BY cluster, pod_uid
),

told AS (
    SELECT
        h.*,
        COALESCE(s.declared_id, h.resource_id) AS object_id,
        s.declared_id
    FROM repeat_hosts AS h
    LEFT JOIN served AS s
        ON h.date = s.date
        AND h.run_uuid = s.run_uuid
        AND h.host = s.host
        AND h.resource_kind = s.resource_kind
),

placed AS (
    SELECT
        t.date, t.cluster, t.run_uuid, t.attempt, t.object_id,
        -- One place only if every pod is there.
        CASE WHEN COUNT(*) = COUNT(p.node) AND MIN(p.node) = MAX(p.node) THEN MIN(p.node) END
            AS node,
        CASE WHEN COUNT(*) = COUNT(p.zone) AND MIN(p.zone) = MAX(p.zone) THEN MIN(p.zone) END
            AS reader_zone,
        CASE
            WHEN COUNT(*) = COUNT(p.region) AND MIN(p.region) = MAX(p.region) THEN MIN(p.region)
        END AS reader_region
    FROM (
        SELECT DISTINCT date, cluster, run_uuid, attempt, object_id, UNNEST(pod_uids) AS pod_uid
        FROM told
    ) AS t
    LEFT JOIN places AS p ON t.cluster = p.cluster AND t.pod_uid = p.pod_uid
    GROUP BY t.date, t.cluster, t.run_uuid, t.attempt, t.object_id
),

summed AS (
    SELECT
        date, cluster, run_uuid, attempt, object_id,
        MIN(resource_kind) AS resource_kind,
        MIN(declared_id) AS declared_id,
        MIN(first_seen_at) AS first_seen_at,
        CASE WHEN MIN(reader_region) = MAX(reader_region) THEN MIN(reader_region) END
            AS stated_region,
        SUM(connection_count) AS connection_count,
        -- What is not measured on one host is not measured of the whole.
        CASE WHEN COUNT(*) = COUNT(received_bytes) THEN SUM(received_bytes) END AS received_bytes,
        SUM(min_received_bytes) AS min_bytes,
        CASE WHEN COUNT(*) = COUNT(max_received_bytes) THEN SUM(max_received_bytes) END
            AS max_bytes,
        MIN(measured_by) FILTER (WHERE measured_by <> 'none') AS measured_by,
        ARG_MAX(match_kind, pod_rung(match_kind)) AS match_kind
    FROM told
    GROUP BY date, cluster, run_uuid, attempt, object_id
),

begun AS (
    SELECT
        *,
        COALESCE(
            MAX(CASE WHEN connection_count > 0 THEN date END) OVER earlier,
            MIN(date) OVER earlier
        ) AS contact_date
    FROM summed
    WINDOW earlier AS (
        PARTITION BY cluster, run_uuid, attempt, object_id ORDER BY date
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
)

SELECT
    b.date,
    row_id([
        id_text(b.contact_date), id_text(b.cluster), id_text(b.run_uuid), id_text(b.attempt),
        id_text(b.object_id)
    ]) AS transfer_id,
    MIN(b.first_seen_at) OVER (
        PARTITION BY b.cluster, b.run_uuid, b.attempt, b.object_id, b.contact_date
    ) AS start_at,
    b.resource_kind,
    b.object_id,
    CASE
        WHEN b.declared_id IS NOT NULL THEN REGEXP_REPLACE(b.declared_id, '@[^@/]*$', '')
    END AS dataset_id,
    b.declared_id,
    b.cluster,
    p.node,
    b.run_uuid,
    b.attempt,
    b.match_kind,
    p.reader_zone,
    COALESCE(p.reader_region, b.stated_region) AS reader_region,
    b.received_bytes AS transferred_bytes,
    b.min_bytes,
    b.max_bytes,
    COALESCE(b.measured_by, 'none') AS measured_by
FROM begun AS b
LEFT JOIN placed AS p
    ON b.date = p.date
    AND b.cluster IS NOT DISTINCT FROM p.cluster
    AND b.run_uuid IS NOT DISTINCT FROM p.run_uuid
    AND b.attempt IS NOT DISTINCT FROM p.attempt
    AND b.object_id = p.object_id
