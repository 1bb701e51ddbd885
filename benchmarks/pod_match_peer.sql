-- The peer of bench_pod_match.py: one end of each connection joined to the newest pod interval of
-- its address by ASOF, widened by the skew guard of 2 s.
-- Grain: one row per connection.
-- Parameters: $connections and $intervals (Parquet files).
WITH intervals AS (
    SELECT
        pod_uid,
        address,
        start_at - INTERVAL 2 SECOND AS start_at,
        end_at + INTERVAL 2 SECOND AS end_at
    FROM read_parquet($intervals)
)

SELECT
    c.connection AS item_id,
    CASE WHEN c.event_at < p.end_at THEN p.pod_uid END AS pod_uid,
    CASE WHEN c.event_at < p.end_at THEN 'address_window' ELSE 'none' END AS match_kind,
    CAST(NULL AS VARCHAR[]) AS candidate_pod_uids
FROM read_parquet($connections) AS c
ASOF LEFT JOIN intervals AS p ON c.address = p.address AND c.event_at >= p.start_at
