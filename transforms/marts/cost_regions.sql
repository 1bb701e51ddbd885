-- Region of clusters, where no pod of theirs stands in another.
-- Grain: one cluster of the settings.
-- Reads: cluster_clouds, pod_intervals.
-- Parameters: $date.
SELECT
    c.cluster,
    CASE
        WHEN NOT EXISTS (
            SELECT 1 FROM pod_intervals AS p
            WHERE
                p.date = CAST($date AS DATE) AND p.cluster = c.cluster AND p.region <> c.region
        )
            THEN c.region
    END AS region
FROM cluster_clouds AS c
