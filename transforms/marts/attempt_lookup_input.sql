-- Who asked the resolvers when, for the pod ladder: one item per client and second.
-- Grain: distinct client and second.
-- Reads: dns_lookups.
-- Parameters: $names_from (a little before the day), $day_end.
SELECT
    row_id([
        id_text(cluster), id_text(client_address), id_text(client_namespace),
        id_text(client_pod_name), id_text(client_pod_uid),
        id_text(epoch_us(event_at) // 1000000)
    ]) AS item_id,
    cluster,
    client_address AS address,
    client_namespace AS namespace,
    client_pod_name AS pod_name,
    client_pod_uid AS pod_uid,
    MIN(event_at) AS event_at
FROM dns_lookups
WHERE
    event_at >= CAST($names_from AS TIMESTAMPTZ) AND event_at < CAST($day_end AS TIMESTAMPTZ)
GROUP BY
    cluster, client_address, client_namespace, client_pod_name, client_pod_uid,
    epoch_us(event_at) // 1000000
