-- What would avoid each repeat, the evidence that led there, and what to test after the change.
-- A repeat whose place is not known has no remedy, nor one across regions that are not known.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_measured, repeat_fetches.
WITH facts AS (
    SELECT
        m.transfer_id, m.scope, m.is_known, m.earlier,
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
    transfer_id,
    scope,
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
    END AS remedy_evidence,
    CASE remedy
        WHEN 'pin_revision' THEN
            'Cold worker: starts with the upstream host blocked once the cache is filled, and with '
            || 'the cache empty while it is reachable. Updated model: a new revision is fetched '
            || 'after the pin is raised, and not before.'
        WHEN 'image_pre_pull' THEN
            'Cold worker: a new node has the image before its first pod starts. Updated model: an '
            || 'image with another digest is pulled, and the old one is not run.'
        WHEN 'image_mirror' THEN
            'Cold worker: a new node pulls from a peer or the mirror, and from the registry when '
            || 'that is gone. Updated model: a moved tag is resolved at the registry, not at a peer.'
        WHEN 'node_cache' THEN
            'Cold worker: with an empty cache the object is read once from the bucket. Updated '
            || 'model: after a write under the same key the next read has the new ETag or version.'
        WHEN 'zone_cache' THEN
            'Cold worker: a node without a cache of its own reads from the zone, and from the '
            || 'bucket when the zone''s cache is gone. Updated model: after a write under the same '
            || 'key every node of the zone reads the new ETag or version.'
        WHEN 'move_job' THEN
            'Cold worker: starts in the bucket''s region and finds accelerator, image and other '
            || 'data there. Updated model: what it writes is read where it is needed.'
        WHEN 'bucket_replica' THEN
            'Cold worker: reads the replica, and the original where the replica lags. Updated '
            || 'model: a write has reached the replica before a run is told of it.'
        WHEN 'gateway_endpoint' THEN
            'Cold worker: a node of every subnet reaches the bucket with the address translation '
            || 'taken away, and the log names the endpoint. Updated model: writes pass the endpoint '
            || 'as well.'
    END AS test_after
FROM told
