-- When connections moved something: their events, as long as they are 5 s apart at most. An idle
-- connection that stays open is no wait. What a request log tells of is not told twice.
-- Grain: one stretch of one connection.
-- Reads: attempt_flows, attempt_wanted.
WITH spaced AS (
    SELECT
        connection_id, us,
        CASE WHEN us - LAG(us) OVER (PARTITION BY connection_id ORDER BY us) <= 5000000 THEN 0
            ELSE 1 END AS begins
    FROM attempt_flows
),

numbered AS (
    SELECT
        connection_id, us,
        SUM(begins) OVER (
            PARTITION BY connection_id ORDER BY us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS stretch
    FROM spaced
),

stretches AS (
    SELECT connection_id, stretch, MIN(us) AS start_us, MAX(us) AS end_us
    FROM numbered
    GROUP BY connection_id, stretch
)

SELECT
    w.cluster, w.pod_uid, w.container, w.container_role, w.container_kind, w.match_kind,
    w.resource_id, s.start_us, s.end_us, w.is_gate, w.connection_id AS evidence_id,
    'connections' AS source
FROM stretches AS s
INNER JOIN attempt_wanted AS w ON s.connection_id = w.connection_id
-- Where nothing answered nothing moved.
WHERE NOT w.is_logged AND w.has_reply AND NOT w.is_dropped
