-- Digests of the images that the containers of each attempt ran or pulled.
-- Grain: one attempt of one run.
-- Reads: run_pods, container_states, image_pulls (all days).
-- Parameters: $date, $day_end.
WITH seen AS (
    SELECT cluster, pod_uid, image_digest
    FROM container_states
    WHERE started_at IS NULL OR started_at < CAST($day_end AS TIMESTAMPTZ)
    UNION ALL
    SELECT cluster, pod_uid, image_digest
    FROM image_pulls
    WHERE date <= CAST($date AS DATE)
)

SELECT
    p.run_uuid,
    p.attempt,
    LIST_SORT(LIST(DISTINCT s.image_digest)) AS image_digests
FROM seen AS s
INNER JOIN run_pods AS p
    ON s.pod_uid = p.pod_uid AND COALESCE(s.cluster, p.cluster) = p.cluster
WHERE s.image_digest IS NOT NULL
GROUP BY p.run_uuid, p.attempt
