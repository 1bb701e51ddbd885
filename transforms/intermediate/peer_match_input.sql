-- Ends of records at both instants of their intervals, to be matched to pods.
-- Grain: cluster, address, instant.
-- Reads: peer_records.
WITH ends AS (
    SELECT cluster, source AS address, from_us, until_us FROM peer_records
    UNION ALL
    SELECT cluster, destination AS address, from_us, until_us FROM peer_records
),

instants AS (
    SELECT cluster, address, from_us AS event_us FROM ends
    UNION
    SELECT cluster, address, until_us - 1 AS event_us FROM ends
)

SELECT
    {'cluster': cluster, 'address': address, 'event_us': event_us} AS item_id,
    cluster,
    address,
    CAST(NULL AS VARCHAR) AS namespace,
    CAST(NULL AS VARCHAR) AS pod_name,
    CAST(NULL AS VARCHAR) AS pod_uid,
    make_timestamptz(event_us) AS event_at
FROM instants
