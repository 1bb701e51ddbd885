-- Images that containers asked for and the digests that they ran, and since when.
-- Grain: one container, image, digest and start.
-- Reads: container_states.
-- Parameters: $cluster, $span_start.
SELECT DISTINCT
    pod_uid, container, image, image_digest,
    COALESCE(started_at, observed_at) AS started_at
FROM container_states
WHERE
    cluster = $cluster
    AND (image IS NOT NULL OR image_digest IS NOT NULL)
    AND observed_at >= CAST($span_start AS TIMESTAMPTZ)
