-- Whose address an end was over a record's interval: both instants must allow the pod.
-- Grain: holder at the first instant, holder at the last.
-- Reads: peer_ended, peer_holders.
WITH pairs AS (
    SELECT source_first AS first_holder, source_last AS last_holder FROM peer_ended
    UNION
    SELECT destination_first AS first_holder, destination_last AS last_holder FROM peer_ended
),

paired AS (
    SELECT
        p.first_holder,
        p.last_holder,
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
    FROM pairs AS p
    INNER JOIN peer_holders AS f ON p.first_holder = f.holder
    INNER JOIN peer_holders AS l ON p.last_holder = l.holder
),

chosen AS (
    SELECT
        first_holder, last_holder,
        CASE speaks WHEN 'first' THEN first_match WHEN 'last' THEN last_match END AS spoken,
        CASE
            WHEN LEN(LIST_INTERSECT(first_match.candidates, last_match.candidates)) > 0
                THEN LIST_INTERSECT(first_match.candidates, last_match.candidates)
            ELSE LIST_CONCAT(first_match.candidates, last_match.candidates)
        END AS candidates
    FROM paired
),

numbered AS (
    SELECT CAST(ROW_NUMBER() OVER () AS INTEGER) AS end_number, *
    FROM chosen
)

SELECT
    end_number,
    -- Ends of one pod are one party, whichever instants told it; ends of no pod are party 0.
    CASE
        WHEN spoken.pod_uid IS NULL THEN 0
        ELSE MIN(end_number) OVER (PARTITION BY spoken.pod_uid)
    END AS party,
    first_holder,
    last_holder,
    spoken.cluster AS cluster,
    spoken.pod_uid AS pod_uid,
    spoken.namespace AS namespace,
    spoken.pod_name AS pod_name,
    spoken.node AS node,
    spoken.run_uuid AS run_uuid,
    spoken.attempt AS attempt,
    COALESCE(spoken.match_kind, 'ambiguous') AS match_kind,
    CASE
        WHEN spoken.match_kind IS NULL THEN candidates
        WHEN spoken.pod_uid IS NULL THEN spoken.candidates
    END AS candidates
FROM numbered
