-- Events of the day in connections that are nobody's, by the reason.
-- Grain: reason.
-- Reads: connection_peers.
SELECT ignored_as AS reason, CAST(SUM(event_count) AS BIGINT) AS event_count
FROM connection_peers
WHERE ignored_as IS NOT NULL
GROUP BY ignored_as
