-- Readings whose series states no pod UID, to be matched by name at the time of the reading.
-- Grain: one pod name and time.
-- Reads: counter_growth, counter_series.
-- Parameters: $cluster.
WITH wanted AS (
    SELECT DISTINCT s.namespace, s.pod_name, g.until_us
    FROM counter_growth AS g
    INNER JOIN counter_series AS s USING (series)
    WHERE s.pod_uid IS NULL AND s.namespace IS NOT NULL AND s.pod_name IS NOT NULL
)

SELECT
    {'namespace': namespace, 'pod_name': pod_name, 'until_us': until_us} AS item_id,
    CAST($cluster AS VARCHAR) AS cluster,
    CAST(NULL AS VARCHAR) AS address,
    namespace,
    pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    make_timestamptz(until_us) AS event_at
FROM wanted
