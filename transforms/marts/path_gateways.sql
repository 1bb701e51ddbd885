-- What a pod's bytes to a host, or to a provider's storage as a whole, passed, where all chosen
-- flow records of the day that tell it agree.
-- Grain: one pod and host (`place`: the host's name, or `S3` where a record names the service).
-- Reads: peer_traffic.
-- Parameters: $date.
SELECT
    pod_uid,
    CASE WHEN UPPER(peer_name) IN ('S3', 'AMAZON S3') THEN 'S3' ELSE LOWER(peer_name) END AS place,
    MIN(gateway) AS gateway
FROM peer_traffic
WHERE
    date = CAST($date AS DATE)
    AND is_chosen
    AND pod_uid IS NOT NULL
    AND peer_name IS NOT NULL
    AND gateway <> 'unknown'
GROUP BY ALL
HAVING MIN(gateway) = MAX(gateway)
