-- What was fetched on the day, of every kind: reads of objects, image pulls, contacts of runs with
-- hosts.
-- `min_bytes` and `max_bytes` bound what was moved this day (null: unbounded); `size_class` is one
-- content's size where the thing may change under its name.
-- Grain: one fetch of the day.
-- Reads: object_reads (days of the look-back), repeat_pulls, repeat_contacts.
-- Parameters: $date.
WITH reads AS (
    SELECT
        'object' AS resource_kind,
        t.provider,
        t.object_id,
        t.resource_id,
        t.dataset_id,
        t.dataset_basis,
        'object' AS grade,
        t.transfer_id,
        t.start_at,
        t.cluster,
        t.node,
        t.run_uuid,
        t.attempt,
        t.match_kind,
        t.reader_zone,
        t.reader_region,
        t.bucket_region,
        t.client_address,
        t.vpc_endpoint_id,
        CAST(NULL AS VARCHAR) AS declared_id,
        CASE WHEN t.unlogged_bytes_count = t.not_modified_count THEN t.transferred_bytes END
            AS transferred_bytes,
        t.transferred_bytes AS min_bytes,
        -- A request whose bytes the log leaves out moved no more than the object.
        t.transferred_bytes
            + CAST(GREATEST(t.unlogged_bytes_count - t.not_modified_count, 0) AS HUGEINT)
            * CASE
                WHEN t.unlogged_bytes_count > t.not_modified_count THEN t.object_size_bytes ELSE 0
            END AS max_bytes,
        t.object_size_bytes AS size_bytes,
        t.etag,
        t.version_id IS NULL AS may_change,
        t.is_complete AS is_whole,
        t.read_ranges IS NOT NULL AS has_ranges,
        'storage_log' AS measured_by
    FROM object_reads AS t
    WHERE t.date = CAST($date AS DATE)
),

pulls AS (
    SELECT
        'image' AS resource_kind,
        'oci' AS provider,
        object_id,
        object_id AS resource_id,
        dataset_id,
        'image' AS dataset_basis,
        grade,
        transfer_id,
        start_at,
        cluster,
        node,
        run_uuid,
        attempt,
        match_kind,
        reader_zone,
        reader_region,
        CAST(NULL AS VARCHAR) AS bucket_region,
        CAST(NULL AS VARCHAR) AS client_address,
        CAST(NULL AS VARCHAR) AS vpc_endpoint_id,
        CAST(NULL AS VARCHAR) AS declared_id,
        transferred_bytes,
        min_bytes,
        max_bytes,
        size_bytes,
        CAST(NULL AS VARCHAR) AS etag,
        FALSE AS may_change,
        FALSE AS is_whole,
        FALSE AS has_ranges,
        measured_by
    FROM repeat_pulls
    WHERE date = CAST($date AS DATE) AND has_moved
),

contacts AS (
    SELECT
        resource_kind,
        'host' AS provider,
        object_id,
        object_id AS resource_id,
        dataset_id,
        CASE WHEN dataset_id IS NOT NULL THEN 'declared' END AS dataset_basis,
        'endpoint' AS grade,
        transfer_id,
        start_at,
        cluster,
        node,
        run_uuid,
        attempt,
        match_kind,
        reader_zone,
        reader_region,
        CAST(NULL AS VARCHAR) AS bucket_region,
        CAST(NULL AS VARCHAR) AS client_address,
        CAST(NULL AS VARCHAR) AS vpc_endpoint_id,
        declared_id,
        transferred_bytes,
        COALESCE(min_bytes, 0) AS min_bytes,
        max_bytes,
        CAST(NULL AS BIGINT) AS size_bytes,
        CAST(NULL AS VARCHAR) AS etag,
        FALSE AS may_change,
        FALSE AS is_whole,
        FALSE AS has_ranges,
        measured_by
    FROM repeat_contacts
    -- What no run owns is fetched earlier, but is nobody's repeat.
    WHERE date = CAST($date AS DATE) AND run_uuid IS NOT NULL
),

today AS (
    SELECT * FROM reads
    UNION ALL
    SELECT * FROM pulls
    UNION ALL
    SELECT * FROM contacts
),

earlier_days AS (
    SELECT transfer_id, SUM(transferred_bytes) AS bytes_before
    FROM object_reads
    WHERE
        date < CAST($date AS DATE)
        AND transfer_id IN (
            SELECT transfer_id FROM reads WHERE CAST(start_at AS DATE) < CAST($date AS DATE)
        )
    GROUP BY transfer_id
)

SELECT
    t.*,
    CAST(t.start_at AS DATE) AS start_date,
    epoch_us(t.start_at) AS start_us,
    CASE
        WHEN t.cluster IS NOT NULL AND t.node IS NOT NULL THEN t.cluster || '/' || t.node
    END AS node_key,
    COALESCE(e.bytes_before, 0) AS bytes_before
FROM today AS t
LEFT JOIN earlier_days AS e ON t.transfer_id = e.transfer_id
