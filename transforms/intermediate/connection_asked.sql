-- The only external name that a pod asked just before a connection, where the log has no answers.
-- Grain: connection to the outside that no better rung names.
-- Reads: connection_peers, name_output, dns_lookups.
-- Parameters: $just_before_us, $neighbour_us (skew guard behind the start).
WITH nameless AS (
    SELECT
        c.connection,
        c.initiator_address,
        c.responder_address,
        c.first_us - CAST($just_before_us AS BIGINT) AS from_us,
        c.first_us + CAST($neighbour_us AS BIGINT) AS until_us
    FROM connection_peers AS c
    LEFT JOIN name_output AS n ON c.connection = n.item_id
    WHERE
        c.is_reached
        AND c.ignored_as IS NULL
        AND c.peer_kind IN ('outside', 'unknown')
        AND c.initiator_uid IS NOT NULL
        AND n.item_id IS NULL
        AND c.flow_names IS NULL
        AND c.http_hosts IS NULL
),

waiting AS (
    SELECT *, UNNEST(RANGE(from_us // 8000000, until_us // 8000000 + 1)) AS bucket
    FROM nameless
),

external AS (
    SELECT
        client_address,
        query_name,
        epoch_us(event_at) AS event_us,
        epoch_us(event_at) // 8000000 AS bucket,
        answers IS NOT NULL AS has_answers
    FROM dns_lookups
    WHERE
        rcode = 'NOERROR'
        AND query_type IN ('A', 'AAAA')
        AND CONTAINS(query_name, '.')
        AND NOT REGEXP_MATCHES(query_name, '(^|\.)(cluster\.local|svc|local|internal|arpa)$')
),

asked AS (
    SELECT
        w.connection,
        w.responder_address,
        e.query_name,
        BOOL_OR(e.has_answers) AS has_answers
    FROM waiting AS w
    INNER JOIN external AS e
        ON w.initiator_address = e.client_address
        AND w.bucket = e.bucket
        AND e.event_us >= w.from_us
        AND e.event_us <= w.until_us
    GROUP BY w.connection, w.responder_address, e.query_name
),

alone AS (
    SELECT connection, responder_address, MIN(query_name) AS query_name
    FROM asked
    WHERE NOT has_answers
    GROUP BY connection, responder_address
    HAVING COUNT(*) = 1
),

-- Names for which an answer held an address, in whatever log has answers.
told AS (
    SELECT query_name, UNNEST(answers) AS answer
    FROM dns_lookups
    WHERE answers IS NOT NULL
),

known AS (
    SELECT
        l.connection,
        l.query_name,
        BOOL_OR(t.query_name = l.query_name) AS is_its_own
    FROM alone AS l
    INNER JOIN told AS t
        ON l.responder_address = t.answer.data AND t.answer.type IN ('A', 'AAAA')
    GROUP BY l.connection, l.query_name
)

-- An address that is known as other names' only is not this name's. (That a name's known answers
-- do not hold it proves nothing: big hosts answer with other addresses each time.)
SELECT l.connection, l.query_name
FROM alone AS l
LEFT JOIN known AS k ON l.connection = k.connection
WHERE k.connection IS NULL OR k.is_its_own
