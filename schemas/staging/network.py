"""Staging tables of network telemetry: flows, name look-ups, counters, volumes, losses."""

import polars as pl

from schemas import columns as c
from schemas.columns import Answers, Instant, TextList
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table

SAMPLE_KINDS = ("grid_point", "path_time")
SAMPLE_KIND = (
    "What the time of a counter's value is, where it was not read then: `grid_point`, that at "
    "which a query repeated the newest value, which may be minutes older; `path_time`, the hour or "
    "day in the file's path, else the end of its landing day. Neither becomes an increment."
)


@table("staging", key=STAGING_KEY, covers=("event_at",))
class Flows(StagingTable):
    """One exported Hubble event.

    A flow line is one packet, one L7 message or one connect() at one trace point, never a
    connection and never a volume. Agent events that name a pod's address stand here too, with
    `agent_event` filled and the pod as source.
    """

    event_at: Instant = c.event_at(null="a field mask removed the time")
    uuid: str = c.column("Event uuid.", null="Cilium before 1.14, or masked")
    node: str = c.node(null="a field mask removed it and the path names none")
    verdict: str = c.column(
        "FORWARDED, DROPPED, ERROR, AUDIT, REDIRECTED, TRACED, TRANSLATED, or a number that the "
        "parser does not know.",
        null="unknown or masked",
    )
    drop_reason: str = c.column("Name of the drop reason, else its number.", null="not dropped")
    direction: str = c.column(
        "INGRESS or EGRESS of the connection, relative to the local endpoint.", null="unknown"
    )
    is_reply: pl.Boolean = c.column("Packet of the reply direction.", null="unknown, never false")
    event_type: pl.Int64 = c.column(
        "1 drop, 4 trace, 5 policy verdict, 7 socket, 129 L7, 130 agent.", null="masked"
    )
    event_sub_type: pl.Int64 = c.column(
        "Sub type: drop code or observation point.", null="no event_type"
    )
    observation_point: str = c.column("Trace observation point, such as TO_ENDPOINT.", null="none")
    trace_reason: str = c.column("Conntrack state of this packet, such as NEW.", null="before 1.16")
    transport: str = c.column("TCP, UDP, SCTP, ICMPv4, ICMPv6 or another name.", null="none")
    source_address: str = c.column("Source IP address before translation.", null="none")
    source_xlated_address: str = c.column("Address in the header if translated.", null="same")
    source_port: pl.Int64 = c.column("Source port.", null="no ports, or masked")
    source_namespace: str = c.namespace(null="not a pod, or unknown to the agent")
    source_pod_name: str = c.pod_name(null="not a pod, or unknown to the agent")
    source_pod_uid: str = c.pod_uid(null="Cilium before it exported pod UIDs")
    source_identity: pl.Int64 = c.column("Cilium security identity.", null="unknown")
    source_endpoint_id: pl.Int64 = c.column(
        "Node-local endpoint id.", null="the endpoint is not on the observing node"
    )
    source_labels: TextList = c.column("Identity-relevant labels, sorted.", null="none exported")
    source_workload: str = c.column("`Kind/name` of the workload.", null="remote or unknown")
    source_service: str = c.column("`namespace/name` of a service frontend.", null="no frontend")
    destination_address: str = c.column("Destination IP address.", null="none")
    destination_xlated_address: str = c.column("Translated destination.", null="same")
    destination_port: pl.Int64 = c.column("Destination port.", null="no ports, or masked")
    destination_namespace: str = c.namespace(null="not a pod, or unknown to the agent")
    destination_pod_name: str = c.pod_name(null="not a pod, or unknown to the agent")
    destination_pod_uid: str = c.pod_uid(null="Cilium before it exported pod UIDs")
    destination_identity: pl.Int64 = c.column("Cilium security identity.", null="unknown")
    destination_endpoint_id: pl.Int64 = c.column(
        "Node-local endpoint id.", null="the endpoint is not on the observing node"
    )
    destination_labels: TextList = c.column("Identity-relevant labels.", null="none exported")
    destination_workload: str = c.column("`Kind/name` of the workload.", null="remote or unknown")
    destination_service: str = c.column("`namespace/name` of a frontend.", null="no frontend")
    tcp_flags: str = c.column(
        "Flags set, joined by commas in the order FIN SYN RST PSH ACK URG ECE CWR NS.",
        null="not TCP, or the layer has no flags",
    )
    source_names: TextList = c.column("Names of the source address, replies only.", null="none")
    destination_names: TextList = c.column(
        "Names that the source endpoint was answered for this address.", null="none"
    )
    l7_type: str = c.column("REQUEST, RESPONSE or SAMPLE.", null="not an L7 event")
    dns_query: str = c.column("Name asked, lower case, no final dot.", null="not DNS")
    dns_query_types: TextList = c.column("Query types.", null="not DNS")
    dns_addresses: TextList = c.column("Addresses answered.", null="not a DNS response")
    dns_canonical_names: TextList = c.column("CNAMEs answered.", null="not a DNS response")
    dns_ttl_seconds: pl.Int64 = c.column(
        "Smallest time to live.", null="no answer record", unit="seconds"
    )
    dns_rcode: pl.Int64 = c.column("Response code, 0 = NOERROR.", null="not a DNS response")
    http_method: str = c.column("HTTP method.", null="not HTTP")
    http_host: str = c.column("Host of the URL, lower case.", null="not HTTP, or not in the URL")
    http_path: str = c.column("Path of the URL without query.", null="not HTTP")
    http_status: pl.Int64 = c.column("HTTP status code.", null="not an HTTP response")
    latency_seconds: pl.Float64 = c.seconds("Time from request to response.", null="not stated")
    denied_by: TextList = c.column(
        "Policies that denied, `kind/namespace/name`.", null="not denied by a named policy"
    )
    proxy_port: pl.Int64 = c.column("Port of the L7 proxy.", null="not redirected")
    agent_event: str = c.column("Type of the agent event.", null="a flow")
    flow_count: pl.Int64 = c.count(
        "Events that an aggregated export folded into this line.", null="not aggregated"
    )
    packet_bytes: pl.Int64 = c.byte_count(
        "Size of the packet, where the exporter states it (Microsoft Retina). The same packet may "
        "stand at several trace points.",
        null="not stated: Hubble itself exports no bytes",
        adds_up=False,
    )
    unreported_bytes: pl.Int64 = c.byte_count(
        "Bytes of the connection's packets before this one that Retina saw and did not report.",
        null="not stated",
        adds_up=False,
    )
    unreported_packets: pl.Int64 = c.count(
        "Packets of the connection before this one that Retina saw and did not report.",
        null="not stated",
        adds_up=False,
    )
    is_masked: pl.Boolean = c.column("A field mask removed the time or both ends of the flow.")


@table("staging", key=STAGING_KEY, covers=("event_at",))
class DnsLookups(StagingTable):
    """One answered name look-up, or a query that no response is known for."""

    event_at: Instant = c.event_at()
    node: str = c.node(null="not stated by the source")
    client_address: str = c.column("Address that asked.", null="not stated by the source")
    client_port: pl.Int64 = c.column("Port that asked.", null="not stated by the source")
    client_namespace: str = c.namespace()
    client_pod_name: str = c.pod_name()
    client_pod_uid: str = c.pod_uid(null="not stated by the source")
    resolver_address: str = c.column("Address that answered.", null="not stated by the source")
    transport: str = c.column("UDP, TCP, DOT or DOH.", null="not stated by the source")
    query_name: str = c.column("Name asked: lower case, no final dot, search suffix off.")
    original_query_name: str = c.column("Name as asked, lower case, no final dot.")
    query_type: str = c.column("Type asked, such as A or AAAA.", null="not stated")
    rcode: str = c.column(
        "Response code name, such as NOERROR.", null="no response, or no code, is known"
    )
    answers: Answers = c.column("Answer records.", null="the format has none")
    latency_seconds: pl.Float64 = c.seconds("Time from query to response.", null="not stated")
    is_response: pl.Boolean = c.column("Whether a response is known.")
    dns_message_id: pl.Int64 = c.column("Id in the DNS header.", null="not stated by the source")


@table("staging", key=STAGING_KEY, covers=("event_at",))
class CounterSamples(StagingTable):
    """One reading of a byte counter."""

    series_id: str = c.column("Hash of everything that names the series, observer excluded.")
    observer: str = c.column("Who read it: exporter instance, else the export's name.")
    metric: str = c.column("Metric name as exported.")
    node: str = c.node()
    namespace: str = c.namespace()
    pod_name: str = c.pod_name()
    pod_uid: str = c.pod_uid(null="not stated by the source")
    interface: str = c.column("Network interface.", null="not stated by the source")
    direction: str = c.column("Direction seen from the pod.", allowed=c.DIRECTIONS)
    temporality: str = c.column(
        "Whether the value counts from a start or since the last reading.",
        allowed=("cumulative", "delta"),
    )
    byte_layer: str = c.column("Layer at which bytes are counted.", allowed=c.BYTE_LAYERS)
    value: pl.Int64 = c.byte_count("Reading of the counter.", adds_up=False)
    event_at: Instant = c.event_at()
    counter_start_at: Instant = c.column(
        "When the counter started from zero.", null="unknown, or stated as equal to the reading"
    )
    sample_kind: str = c.column(
        f"{SAMPLE_KIND} `stale`: the exporter no longer showed the series then (value 0).",
        null="it was read then",
        allowed=(*SAMPLE_KINDS, "stale"),
    )
    counter_bits: pl.Int64 = c.column(
        "Width after which the counter begins at 0 again.",
        null="64, or not declared: it never does",
        unit="bits",
        minimum=32,
    )
    link_bits_per_second: pl.Int64 = c.column(
        "Speed of the fastest interface counted, as declared.",
        null="not declared",
        unit="bits per second",
        minimum=1,
    )
    expires_after_seconds: pl.Int64 = c.column(
        "Time without growth after which the exporter forgets the counter, as declared.",
        null="it never does, or not declared",
        unit="seconds",
        minimum=1,
    )


@table("staging", key=STAGING_KEY, covers=("start_at", "end_at"))
class VolumeRecords(StagingTable):
    """Bytes between two endpoints over an interval, as one observer saw them."""

    start_at: Instant = c.start_at()
    end_at: Instant = c.end_at()
    node: str = c.node(null="not stated, or the observer is no node")
    flow_id: str = c.column(
        "Id in the source: records that share it speak of one connection.", null="not stated"
    )
    account_id: str = c.column("Cloud account that owns the interface.", null="not stated")
    interface_id: str = c.column("Network interface that observed.", null="not stated")
    instance_id: str = c.column("Instance of the interface.", null="none or not stated")
    vpc_id: str = c.column("Network of the interface.", null="not stated")
    subnet_id: str = c.column("Subnet of the interface.", null="not stated")
    zone_id: str = c.column("Zone id of the interface (not the zone name).", null="not stated")
    region: str = c.column("Region of the interface.", null="not stated")
    source_address: str = c.column("Source address as the interface sees it.", null="not stated")
    source_port: pl.Int64 = c.column("Source port.", null="no ports or not stated")
    source_packet_address: str = c.column("Source in the packet header.", null="not stated")
    source_xlated_address: str = c.column(
        "Source behind the observer's translation.", null="not translated or not stated"
    )
    source_xlated_port: pl.Int64 = c.column(
        "Source port behind it.", null="not translated or not stated"
    )
    source_service: str = c.column("Provider's service that owns the source.", null="none")
    source_pod_uid: str = c.pod_uid(null="not a pod, or not stated")
    destination_address: str = c.column("Destination as the interface sees it.", null="not stated")
    destination_port: pl.Int64 = c.column("Destination port.", null="no ports or not stated")
    destination_packet_address: str = c.column("Destination in the packet.", null="not stated")
    destination_original_address: str = c.column(
        "Address that was asked for, such as a service's.", null="the same or not stated"
    )
    destination_original_port: pl.Int64 = c.column(
        "Port that was asked for.", null="the same or not stated"
    )
    destination_xlated_address: str = c.column(
        "Destination behind the observer's translation.", null="not translated or not stated"
    )
    destination_xlated_port: pl.Int64 = c.column(
        "Destination port behind it.", null="not translated or not stated"
    )
    destination_service: str = c.column("Provider's service of the destination.", null="none")
    destination_pod_uid: str = c.pod_uid(null="not a pod, or not stated")
    transport: str = c.column("TCP, UDP, SCTP, ICMP or the protocol number.", null="not stated")
    action: str = c.column("ACCEPT or REJECT.", null="not stated")
    reject_reason: str = c.column("Why rejected.", null="not stated")
    bytes: pl.Int64 = c.byte_count("Bytes in the interval.")
    packets: pl.Int64 = c.count("Packets in the interval.", null="not stated")
    payload_bytes: pl.Int64 = c.byte_count(
        "Of the bytes, those of the payload of the transport.", null="not stated"
    )
    missed_bytes: pl.Int64 = c.byte_count(
        "Bytes of the payload, both ways, that the observer knows it did not see.",
        null="not stated",
        adds_up=False,
    )
    dropped_bytes: pl.Int64 = c.byte_count(
        "Bytes that the node dropped; the bytes may hold them.", null="not stated"
    )
    tcp_flags: pl.Int64 = c.column("Bit set of TCP flags seen.", null="not stated")
    connection_state: str = c.column(
        "State of the connection at its end, as the source words it.", null="not stated"
    )
    packet_history: str = c.column("History of the connection's packets.", null="not stated")
    http_method: str = c.column("HTTP method.", null="not HTTP, or not stated")
    http_host: str = c.column(
        "Host that a proxy was asked for, lower case: of the request, else of the TLS handshake.",
        null="not stated",
    )
    http_status: pl.Int64 = c.column("HTTP status code.", null="not HTTP, or none was sent")
    response_flags: str = c.column(
        "What a proxy says of a failure, or of its cache, in its own words.", null="not stated"
    )
    flow_direction: str = c.column(
        "ingress or egress of the interface; of a node also inner, between two of its own.",
        null="not stated",
    )
    interfaces: TextList = c.column("Names of the interfaces passed.", null="not stated")
    traffic_path: str = c.column("Way that egress traffic takes.", null="not stated")
    sampling_interval: pl.Int64 = c.column(
        "One of this many packets was observed.", null="unsampled, or not stated", unit="packets"
    )
    sampled_unit: str = c.column(
        "What one of so many was kept of: packets, or whole flows, whose bytes are then complete.",
        null="packets, or unsampled",
        allowed=("packets", "flows"),
    )
    scaled: str = c.column(
        "Whether bytes are as observed or multiplied up.", allowed=("raw", "scaled", "unknown")
    )
    reporter: str = c.column(
        "Who reports, where it is not an interface of a machine: `SRC` or `DEST` (the end that is "
        "source or destination of this record), what ends with `GATEWAY`, whose bytes the ends "
        "count, too, or the agent, exporter or aggregator, by address where it has one, or the "
        "security group of the interface.",
        null="the interface itself",
    )
    rule_list: str = c.column(
        "List of rules that judged the traffic, where the observer tells a flow once for each.",
        null="not stated, or told once whoever judged",
    )
    temporality: str = c.column(
        "Whether bytes are of the interval, since the connection (of a counter: the counter) "
        "began, or of the whole connection, told once at its end.",
        allowed=("delta", "cumulative", "per_connection_total"),
    )
    repeats: str = c.column(
        "Why the same bytes stand in another record of the same observer: its other interface, a "
        "service's address before translation, the outer packets of an overlay.",
        null="by no rule of the source",
        allowed=("interface", "service", "overlay"),
    )
    byte_layer: str = c.column("Layer at which bytes are counted.", allowed=c.BYTE_LAYERS)
    source_cluster_name: str = c.column("Cluster of the source, by its name.", null="not stated")
    source_namespace: str = c.namespace(null="not stated by the source")
    source_pod_name: str = c.pod_name(null="not stated by the source")
    source_workload: str = c.column("`Kind/name` of the source's workload.", null="not stated")
    source_cluster_services: TextList = c.column(
        "Services of the cluster that the source stands behind, `namespace/name`, sorted.",
        null="not stated",
    )
    source_node: str = c.node(null="not stated by the source, or no machine")
    source_zone: str = c.column("Zone of the source, as the source writes it.", null="not stated")
    source_region: str = c.column("Region of the source.", null="not stated")
    source_vpc_id: str = c.column("Network of the source.", null="not stated")
    destination_cluster_name: str = c.column("Cluster of the destination.", null="not stated")
    destination_namespace: str = c.namespace(null="not stated by the source")
    destination_pod_name: str = c.pod_name(null="not stated by the source")
    destination_workload: str = c.column("`Kind/name` of its workload.", null="not stated")
    destination_cluster_services: TextList = c.column(
        "Services of the cluster that the destination stands behind, `namespace/name`, sorted.",
        null="not stated",
    )
    destination_node: str = c.node(null="not stated by the source, or no machine")
    destination_zone: str = c.column("Zone of the destination.", null="not stated")
    destination_region: str = c.column("Region of the destination.", null="not stated")
    destination_vpc_id: str = c.column("Network of the destination.", null="not stated")
    sublocation: str = c.column("`type/id` of the interface's sublocation.", null="not stated")
    interface_type: str = c.column("Kind of the interface.", null="not stated")
    next_hop_interface_id: str = c.column("Interface of the next hop.", null="not stated")
    next_hop_interface_type: str = c.column("Kind of the next hop.", null="not stated")
    next_hop_vpc_id: str = c.column("Network of the next hop.", null="not stated")
    next_hop_subnet_id: str = c.column("Subnet of the next hop.", null="not stated")
    next_hop_zone_id: str = c.column("Zone id of the next hop.", null="not stated")
    traffic_type: str = c.column("IPv4, IPv6 or EFA (remote memory access).", null="not stated")
    encryption: str = c.column("Encryption on the way, in the source's terms.", null="not stated")
    ecs_cluster_name: str = c.column("ECS cluster of the interface.", null="not stated")
    ecs_service_name: str = c.column("ECS service of the interface.", null="not stated")
    ecs_task_id: str = c.column("ECS task of the interface.", null="not stated")
    ecs_container_ids: TextList = c.column("Containers of that task.", null="not stated")
    round_trip_seconds: pl.Float64 = c.seconds("Round-trip time measured.", null="not stated")
    undelivered_packets: pl.Int64 = c.count(
        "Packets of the interval that a gateway could not pass on.", null="not stated"
    )
    series_id: str = c.column(
        "Hash of everything that names the series of a counter, observer excluded.",
        null="no counter: an interval or a connection",
    )
    observer: str = c.column("Who read the counter.", null="no counter")
    metric: str = c.column("Metric name as exported.", null="no counter")
    counter_start_at: Instant = c.column(
        "When the counter started from zero.", null="no counter, or unknown"
    )
    sample_kind: str = c.column(
        SAMPLE_KIND, null="it was read then, or is no counter", allowed=SAMPLE_KINDS
    )
    expires_after_seconds: pl.Int64 = c.column(
        "Time without growth after which the exporter forgets the counter, as declared.",
        null="not declared, or no counter",
        unit="seconds",
        minimum=1,
    )
    stated_distance: str = c.column(
        "How far the source says that the bytes went. It may have judged by a service's address, "
        "or take any private address to be near.",
        null="not stated",
        allowed=c.DISTANCES,
    )


@table("staging", key=STAGING_KEY, covers=("event_at", "start_at", "end_at"))
class LossReports(StagingTable):
    """What telemetry says of its own gaps."""

    source: str = c.column("Staging table that lost rows.")
    node: str = c.node(null="the whole source")
    event_at: Instant = c.event_at(null="the report has no time")
    start_at: Instant = c.start_at(null="the report names no interval")
    end_at: Instant = c.end_at(null="the report names no interval")
    lost_count: pl.Int64 = c.count("How many events were lost.", null="not stated")
    kind: str = c.column(
        "How they were lost.",
        allowed=("lost", "skipped", "sampled", "truncated", "rotated_away"),
    )
    reason: str = c.column("Reason as the source words it.", null="not stated")
