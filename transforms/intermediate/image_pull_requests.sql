-- What a registry's own log says of pulls: blobs and manifests that it sent to the node's address
-- for the image's repository. A request counts for a pull if only that pull of the repository was
-- under way on the node. A registry may write one request to several logs, of which the fullest
-- counts; blobs for which it sends clients elsewhere are in none of them. ECR's events are such: they
-- tell each layer that the node had not, and no bytes.
-- Grain: one pull of image_pull_merged with at least one request.
-- Reads: image_pull_merged, registry_requests, node_states.
-- Parameters: $cluster, $day_end, $guard_us (clocks differ by at most this).
WITH addresses AS (
    SELECT address, MIN(node) AS node
    FROM (
        SELECT DISTINCT node, UNNEST(addresses) AS address
        FROM node_states
        WHERE cluster = $cluster AND node IS NOT NULL
    )
    GROUP BY address
    HAVING COUNT(*) = 1
),

requests AS (
    SELECT
        a.node,
        r.record_id || '/' || r.row_index AS request,
        r.log_kind,
        r.target,
        r.digest,
        LOWER(r.registry) AS registry,
        r.repository,
        COALESCE(r.is_redirected, FALSE) AS is_redirected,
        r.response_bytes,
        epoch_us(r.event_at) AS event_us
    FROM registry_requests AS r
    INNER JOIN addresses AS a ON r.client_address = a.address
    WHERE
        r.operation = 'read'
        AND r.target IN ('blob', 'manifest')
        AND (r.log_kind <> 'audit' OR r.provider = 'ecr')
        AND (r.status IN (200, 206) OR r.is_redirected)
        AND r.event_at < CAST($day_end AS TIMESTAMPTZ)
),

pulls AS (
    SELECT
        pull_number, node,
        image_registry(registry) AS registry,
        SUBSTRING(
            image_repository(image, registry), LENGTH('oci://' || image_registry(registry)) + 2
        ) AS repository,
        epoch_us(start_at) - CAST($guard_us AS BIGINT) AS start_us,
        epoch_us(COALESCE(end_at, CAST($day_end AS TIMESTAMPTZ))) + CAST($guard_us AS BIGINT)
            AS end_us
    FROM image_pull_merged
    WHERE NOT was_present
),

met AS (
    SELECT
        p.pull_number,
        r.* EXCLUDE (node, registry, repository, event_us),
        COUNT(*) OVER (PARTITION BY r.request) AS pull_count
    FROM requests AS r
    INNER JOIN pulls AS p
        ON r.node = p.node
        AND r.repository = p.repository
        AND COALESCE(r.registry, p.registry) = p.registry
        AND r.event_us >= p.start_us
        AND r.event_us < p.end_us
),

by_log AS (
    SELECT
        pull_number, log_kind,
        COUNT(*) AS request_count,
        BOOL_OR(pull_count > 1) AS is_shared,
        -- A manifest that was read shows that the pull is in the log from its beginning.
        BOOL_OR(target = 'manifest') AS has_manifest,
        BOOL_OR(is_redirected OR response_bytes IS NULL) AS is_elsewhere,
        COUNT(DISTINCT digest) FILTER (WHERE target = 'blob') AS blob_count,
        SUM(response_bytes) FILTER (WHERE NOT is_redirected) AS sent_bytes
    FROM met
    GROUP BY pull_number, log_kind
)

SELECT *
FROM by_log
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY pull_number ORDER BY request_count DESC, sent_bytes DESC NULLS LAST, log_kind
) = 1
