-- Whose address an end was over a record's interval: both instants must allow the pod.
-- Grain: cluster, address, interval.
-- Reads: peer_records, match_output.
WITH ends AS (
    SELECT cluster, source AS address, from_us, until_us FROM peer_records
    UNION
    SELECT cluster, destination AS address, from_us, until_us FROM peer_records
),

matched AS (
    SELECT
        item_id.cluster AS asked_cluster,
        item_id.address AS address,
        item_id.event_us AS event_us,
        cluster,
        pod_uid,
        namespace,
        pod_name,
        node,
        run_uuid,
        attempt,
        match_kind,
        CASE
            WHEN pod_uid IS NOT NULL THEN [pod_uid]
            WHEN match_kind = 'ambiguous' THEN candidate_pod_uids
            ELSE []
        END AS candidates
    FROM match_output
),

paired AS (
    SELECT
        e.cluster AS asked_cluster,
        e.address,
        e.from_us,
        e.until_us,
        f AS first_match,
        l AS last_match,
        CASE
            WHEN l.match_kind = 'none' THEN 'first'
            WHEN f.match_kind = 'none' THEN 'last'
            WHEN f.match_kind = 'node' AND l.match_kind = 'node' AND f.node = l.node THEN 'first'
            WHEN LEN(LIST_INTERSECT(f.candidates, l.candidates)) <> 1 THEN 'neither'
            WHEN f.pod_uid IS NOT NULL THEN 'first'
            WHEN l.pod_uid IS NOT NULL THEN 'last'
            ELSE 'neither'
        END AS speaks
    FROM ends AS e
    INNER JOIN matched AS f
        ON e.cluster IS NOT DISTINCT FROM f.asked_cluster
        AND e.address = f.address
        AND e.from_us = f.event_us
    INNER JOIN matched AS l
        ON e.cluster IS NOT DISTINCT FROM l.asked_cluster
        AND e.address = l.address
        AND e.until_us - 1 = l.event_us
),

chosen AS (
    SELECT
        asked_cluster, address, from_us, until_us,
        CASE speaks WHEN 'first' THEN first_match WHEN 'last' THEN last_match END AS spoken
    FROM paired
)

SELECT
    asked_cluster,
    address,
    from_us,
    until_us,
    spoken.cluster AS cluster,
    spoken.pod_uid AS pod_uid,
    spoken.namespace AS namespace,
    spoken.pod_name AS pod_name,
    spoken.node AS node,
    spoken.run_uuid AS run_uuid,
    spoken.attempt AS attempt,
    COALESCE(spoken.match_kind, 'ambiguous') AS match_kind
FROM chosen
