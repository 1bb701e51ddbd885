-- What would avoid each repeat, and the evidence that led there.
-- A repeat whose place is not known has no remedy, nor one across regions that are not known.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_measured, repeat_fetches.
WITH facts AS (
    SELECT
        m.repeat_number, m.is_known, m.earlier,
        m.earlier IS NULL AS is_of_itself,
        -- Wider scopes ask for what helps all of their nodes.
        m.scope = 'node' OR (m.scope = 'run' AND COALESCE(m.earlier.node = f.node_key, FALSE))
            AS is_on_node,
        m.scope = 'zone' OR (m.scope = 'run' AND COALESCE(m.earlier.zone = f.reader_zone, FALSE))
            AS is_in_zone,
        COALESCE(m.earlier.run = f.run_uuid, FALSE) AS is_same_run,
        f.resource_kind,
        f.object_id,
        f.declared_id,
        f.node,
        f.node_key,
        f.reader_zone,
        f.reader_region,
        f.bucket_region,
        f.reader_region <> f.bucket_region AS is_cross_region,
        f.client_address,
        f.vpc_endpoint_id IS NULL AND is_public_address(f.client_address) AS is_public
    FROM repeat_measured AS m
    INNER JOIN repeat_fetches AS f ON m.transfer_id = f.transfer_id
    WHERE NOT m.is_unplaced AND (m.is_known OR m.earlier IS NULL)
),

chosen AS (
    SELECT
        *,
        CASE
            WHEN resource_kind IN ('git', 'model_hub', 'package_index') THEN 'pin_revision'
            WHEN resource_kind = 'image' AND is_on_node THEN 'image_pre_pull'
            WHEN resource_kind = 'image' THEN 'image_mirror'
            WHEN is_of_itself OR is_on_node THEN 'node_cache'
            WHEN is_in_zone THEN 'zone_cache'
            -- One job that reads across regions can go to its data; for several the data comes.
            WHEN is_cross_region AND is_same_run THEN 'move_job'
            WHEN is_cross_region THEN 'bucket_replica'
            WHEN NOT is_cross_region AND is_public THEN 'gateway_endpoint'
            WHEN NOT is_cross_region THEN 'zone_cache'
        END AS remedy
    FROM facts
),

told AS (
    SELECT
        *,
        CASE WHEN is_of_itself THEN 'one transfer read more than the object holds'
            ELSE
                'read before at ' || STRFTIME(make_timestamp(earlier.us), '%Y-%m-%dT%H:%M:%SZ')
                || ' by ' || COALESCE('run ' || earlier.run, 'no known run')
                || COALESCE(' on node ' || earlier.node, '')
        END AS history,
        'bucket in ' || COALESCE(bucket_region, 'an unknown region')
            || ', reader in ' || COALESCE(reader_region, 'an unknown region') AS regions
    FROM chosen
)

SELECT
    repeat_number,
    remedy,
    CASE remedy
        WHEN 'pin_revision' THEN
            history || '; '
            || CASE
                WHEN declared_id IS NULL THEN 'only the host is known, no revision is declared'
                WHEN declared_id LIKE '%@%' THEN 'declared as ' || declared_id
                ELSE 'declared as ' || declared_id || ' without a revision'
            END
        WHEN 'image_pre_pull' THEN history || '; this node is ' || COALESCE(node_key, 'not known')
        WHEN 'image_mirror' THEN history || '; this node is ' || COALESCE(node_key, 'not known')
        WHEN 'node_cache' THEN history || COALESCE('; this node is ' || node_key, '')
        WHEN 'zone_cache' THEN
            history || COALESCE('; this zone is ' || reader_zone, '; ' || regions)
        WHEN 'move_job' THEN history || ', which is this run; ' || regions
        WHEN 'bucket_replica' THEN history || '; ' || regions
        WHEN 'gateway_endpoint' THEN
            history || '; ' || regions || '; the storage saw the public address '
            || client_address || ' and no endpoint'
    END AS remedy_evidence
FROM told
