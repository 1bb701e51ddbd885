-- Bytes that rows of run_dependency_days show, by hour, before they are summed up over the day.
-- A request log stamps all bytes at one instant; here they are spread over the transfer's time by
-- the cumulative floor, so that hours add up to the transfer. Of pulls only those of known size.
-- Grain: owner (a pod, else an address of no pod), direction, hour.
-- Reads: dependency_standing, dependency_objects, dependency_pulls.
WITH pulls AS (
    SELECT
        *,
        -- A sum of which a part is not known is shown as unknown (run_dependency_days).
        COUNT(*) OVER same
        = COUNT(CASE WHEN min_transferred_bytes = max_transferred_bytes THEN 1 END) OVER same
            AS is_shown
    FROM dependency_pulls
    WHERE has_bytes
    WINDOW
        same AS (PARTITION BY cluster, run_uuid, attempt, resource_id, endpoint, measured_by)
),

timed AS (
    SELECT
        'log' AS source, cluster, pod_uid, SUBSTRING(owner_key, 9) AS address,
        CASE WHEN has_sent THEN 'transmit' ELSE 'receive' END AS direction,
        epoch_us(first_at) AS from_us,
        GREATEST(epoch_us(last_at), epoch_us(first_at) + 1) AS until_us,
        CAST(bytes AS HUGEINT) AS bytes,
        CAST(bytes AS HUGEINT) AS min_bytes,
        max_bytes
    FROM dependency_objects
    WHERE (has_received OR has_sent) AND (max_bytes IS NULL OR max_bytes > 0)
    UNION ALL
    SELECT
        'pull' AS source, cluster, pod_uid, CAST(NULL AS VARCHAR) AS address,
        'receive' AS direction,
        epoch_us(first_at) AS from_us,
        GREATEST(epoch_us(last_at), epoch_us(first_at) + 1) AS until_us,
        CAST(max_transferred_bytes AS HUGEINT) AS bytes,
        CAST(max_transferred_bytes AS HUGEINT) AS min_bytes,
        max_transferred_bytes AS max_bytes
    FROM pulls
    WHERE is_shown AND max_transferred_bytes > 0
),

cut AS (
    SELECT
        *,
        UNNEST(RANGE(from_us // 3600000000, (until_us - 1) // 3600000000 + 1)) AS hour_number
    FROM timed
),

parts AS (
    SELECT
        source, cluster, pod_uid, address, direction, hour_number,
        moved_between(
            bytes, from_us, until_us, hour_number * 3600000000, (hour_number + 1) * 3600000000
        ) AS bytes,
        CASE
            WHEN until_us <= (hour_number + 1) * 3600000000 AND from_us >= hour_number * 3600000000
                THEN min_bytes
            ELSE 0
        END AS min_bytes,
        max_bytes
    FROM cut
    UNION ALL
    SELECT
        'flow' AS source, cluster, pod_uid, SUBSTRING(owner_key, 9) AS address, direction,
        hour_number,
        standing_bytes AS bytes,
        CASE WHEN is_explained THEN 0 ELSE min_bytes END AS min_bytes,
        max_bytes
    FROM dependency_standing
    WHERE NOT is_accounted
)

SELECT
    pod_uid,
    CASE WHEN pod_uid IS NULL THEN cluster END AS cluster,
    CASE WHEN pod_uid IS NULL THEN address END AS local_address,
    direction,
    hour_number,
    SUM(bytes) AS attributed_bytes,
    SUM(min_bytes) FILTER (WHERE source <> 'pull') AS min_passed_bytes,
    CASE
        WHEN
            COUNT(*) FILTER (WHERE source <> 'pull')
            = COUNT(max_bytes) FILTER (WHERE source <> 'pull')
            THEN COALESCE(SUM(max_bytes) FILTER (WHERE source <> 'pull'), 0)
    END AS max_passed_bytes,
    SUM(bytes) FILTER (WHERE source = 'log') AS log_bytes,
    SUM(min_bytes) FILTER (WHERE source = 'log') AS min_log_bytes,
    CASE
        WHEN COUNT(*) FILTER (WHERE source = 'log') = COUNT(max_bytes) FILTER (WHERE source = 'log')
            THEN SUM(max_bytes) FILTER (WHERE source = 'log')
    END AS max_log_bytes,
    SUM(bytes) FILTER (WHERE source = 'pull') AS pull_bytes
FROM parts
GROUP BY 1, 2, 3, 4, 5
