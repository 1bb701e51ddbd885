-- Bursts summed over the day.
-- Grain: one burst that has a request on the day.
-- Reads: transfer_sums, transfer_changes, transfer_ranges, transfer_matched, transfer_groups,
--   container_output.
-- Parameters: $from_us (start of the look-back), $gap_us.
-- A burst that reaches back to the edge of the look-back may be older than anything seen.
WITH opened AS (
    SELECT
        *,
        CASE WHEN opened_before THEN today_number ELSE first_number END AS named_number
    FROM (
        SELECT
            *,
            NOT is_complete
            AND burst_us < CAST($from_us AS BIGINT) + CAST($gap_us AS BIGINT) AS opened_before
        FROM transfer_sums
    )
),

-- Nearly all texts stand in the request that names the burst; only the others are looked up apart.
elsewhere AS (
    SELECT
        m.rowid AS number, m.etag, m.bucket_region, m.failure, m.endpoint, m.vpc_endpoint_id,
        m.pod_uid, m.event_us
    FROM transfer_matched AS m
    WHERE m.rowid IN (
        SELECT UNNEST([
            etag_number, region_number, failure_number, endpoint_number, vpc_number, today_number
        ])
        FROM opened
        WHERE
            etag_number <> named_number
            OR region_number <> named_number
            OR failure_number <> named_number
            OR endpoint_number <> named_number
            OR vpc_number <> named_number
            OR today_number <> named_number
    )
)

SELECT
    o.group_number,
    o.is_complete,
    o.ended_us,
    CASE WHEN o.etag_number = o.named_number THEN b.etag ELSE e.etag END AS etag,
    CASE o.change_count
        WHEN 0 THEN NULL
        WHEN 1 THEN [o.first_changed_us]
        WHEN 2 THEN [o.first_changed_us, o.last_changed_us]
        ELSE g.changed_us
    END AS changed_us,
    o.object_size_bytes,
    q.read_ranges,
    o.request_count,
    o.success_count,
    o.not_modified_count,
    o.denied_count,
    o.not_found_count,
    o.throttled_count,
    o.error_count,
    CASE WHEN o.failure_number = o.named_number THEN b.failure ELSE f.failure END AS first_error,
    o.transferred_bytes,
    o.error_bytes,
    o.unlogged_bytes_count,
    -- One holder made all requests of a burst.
    b.cluster,
    b.namespace,
    b.pod_name,
    b.pod_uid,
    b.node,
    -- The run that the client states counts where no pod is found.
    CASE
        WHEN b.match_kind IN ('service_account', 'node', 'shared_address', 'none')
            THEN COALESCE(d.stated_run_uuid, b.run_uuid)
        ELSE b.run_uuid
    END AS run_uuid,
    b.attempt,
    CASE
        WHEN b.match_kind IN ('service_account', 'node', 'shared_address', 'none')
            AND d.stated_run_uuid IS NOT NULL THEN 'app_id'
        ELSE b.match_kind
    END AS match_kind,
    b.candidate_pod_uids,
    c.container,
    c.container_role,
    o.container_kind,
    CASE WHEN o.region_number = o.named_number THEN b.bucket_region ELSE r.bucket_region END
        AS bucket_region,
    CASE WHEN o.endpoint_number = o.named_number THEN b.endpoint ELSE p.endpoint END AS endpoint,
    CASE WHEN o.vpc_number = o.named_number THEN b.vpc_endpoint_id ELSE v.vpc_endpoint_id END
        AS vpc_endpoint_id,
    o.duration_seconds,
    o.opened_before,
    CASE WHEN o.opened_before THEN o.today_us ELSE o.burst_us END AS began_us,
    b.record_id AS first_record_id
FROM opened AS o
INNER JOIN transfer_matched AS b ON o.named_number = b.rowid
INNER JOIN transfer_groups AS d ON o.group_number = d.group_number
LEFT JOIN elsewhere AS e ON o.etag_number = e.number
LEFT JOIN elsewhere AS r ON o.region_number = r.number
LEFT JOIN elsewhere AS f ON o.failure_number = f.number
LEFT JOIN elsewhere AS p ON o.endpoint_number = p.number
LEFT JOIN elsewhere AS v ON o.vpc_number = v.number
LEFT JOIN elsewhere AS t ON o.today_number = t.number
LEFT JOIN transfer_changes AS g ON o.first_number = g.first_number
LEFT JOIN transfer_ranges AS q ON o.first_number = q.first_number
LEFT JOIN container_output AS c
    ON o.container_kind = 'only_running'
    AND b.pod_uid = c.item_id.pod_uid
    AND COALESCE(t.event_us, b.event_us) = c.item_id.event_us
