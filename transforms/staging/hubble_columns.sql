-- Flow lines of one file of Hubble events, as they stand there; nothing is judged here.
--
-- Grain: one line whose only event is a flow. Lines of other events are left out; `ordinal` counts
--   all lines that are not blank, from 0, and tells which ones are missing.
-- Reads: the file $path, one JSON object per line. A line that is no JSON object, or in which a
--   declared object or list is something else, or a declared key stands twice, ends the query with
--   an error.
-- Parameters: $path; $compression (`none`, `gzip`, `zstd`).
--
-- Values stay texts: DuckDB turns any JSON scalar into one, so the reader of the columns can tell
-- what it may trust. The JSON itself is kept where a text and another value must be told apart
-- (booleans), and of objects that repeat (ends of flows, flags, policies): reading each distinct one
-- once is cheaper than taking all of them apart.
SELECT
    ordinal,
    flow,
    node_name AS envelope_node_name,
    CASE WHEN COALESCE(flow."time", '') = '' THEN "time" END AS envelope_time
FROM (
    SELECT
        ROW_NUMBER() OVER () - 1 AS ordinal,
        *
    FROM
        READ_NDJSON(
            $path,
            compression = $compression,
            ignore_errors = false,
            maximum_object_size = 4194304,
            columns = {
                flow: 'STRUCT(
                    "time" VARCHAR,
                    uuid VARCHAR,
                    node_name VARCHAR,
                    verdict VARCHAR,
                    drop_reason VARCHAR,
                    drop_reason_desc VARCHAR,
                    traffic_direction VARCHAR,
                    is_reply JSON,
                    reply JSON,
                    event_type JSON,
                    trace_observation_point VARCHAR,
                    trace_reason VARCHAR,
                    IP STRUCT(source VARCHAR, destination VARCHAR, source_xlated VARCHAR),
                    l4 STRUCT(
                        TCP STRUCT(source_port VARCHAR, destination_port VARCHAR, flags JSON),
                        UDP STRUCT(source_port VARCHAR, destination_port VARCHAR),
                        SCTP STRUCT(source_port VARCHAR, destination_port VARCHAR),
                        ICMPv4 STRUCT("type" JSON),
                        ICMPv6 STRUCT("type" JSON),
                        VRRP STRUCT("type" JSON),
                        IGMP STRUCT("type" JSON)
                    ),
                    source JSON,
                    destination JSON,
                    source_service JSON,
                    destination_service JSON,
                    source_names VARCHAR[],
                    destination_names VARCHAR[],
                    l7 STRUCT(
                        "type" VARCHAR,
                        latency_ns VARCHAR,
                        dns STRUCT(
                            "query" VARCHAR,
                            ips VARCHAR[],
                            ttl VARCHAR,
                            cnames VARCHAR[],
                            rcode VARCHAR,
                            qtypes VARCHAR[]
                        ),
                        http STRUCT(code VARCHAR, "method" VARCHAR, url VARCHAR)
                    ),
                    egress_denied_by JSON,
                    ingress_denied_by JSON,
                    proxy_port VARCHAR,
                    aggregate JSON,
                    extensions JSON
                )',
                lost_events: 'JSON',
                agent_event: 'JSON',
                node_status: 'JSON',
                debug_event: 'JSON',
                node_name: 'VARCHAR',
                "time": 'VARCHAR'
            }
        )
)
WHERE
    flow IS NOT NULL
    AND lost_events IS NULL
    AND agent_event IS NULL
    AND node_status IS NULL
    AND debug_event IS NULL
