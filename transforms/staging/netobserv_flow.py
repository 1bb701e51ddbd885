"""A flow of NetObserv: the keys that are read, as flowlogs-pipeline writes them.

Source: netobserv/network-observability-operator, docs/flows-format.adoc; netobserv-ebpf-agent,
pkg/decode; flowlogs-pipeline, pkg/pipeline/transform/kubernetes/enrich.go, whose `otel` assignee
writes other names and the UIDs of pods (`source.k8s.pod.uid`).
"""

import msgspec

Number = int | float | str | None
"""Numbers that are labels of a log store are texts."""


class Flow(msgspec.Struct):
    """What is read of a flow."""

    time_flow_start_ms: Number = msgspec.field(name="TimeFlowStartMs", default=None)
    time_flow_end_ms: Number = msgspec.field(name="TimeFlowEndMs", default=None)
    record_type: str | None = msgspec.field(name="_RecordType", default=None)
    hash_id: str | None = msgspec.field(name="_HashId", default=None)
    flow_direction: Number = msgspec.field(name="FlowDirection", default=None)
    is_duplicate: bool | str | None = msgspec.field(name="Duplicate", default=None)
    agent_address: str | None = msgspec.field(name="AgentIP", default=None)
    interfaces: list[str] | None = msgspec.field(name="Interfaces", default=None)
    interface: str | None = msgspec.field(name="Interface", default=None)
    octets: Number = msgspec.field(name="Bytes", default=None)
    packets: Number = msgspec.field(name="Packets", default=None)
    sampling: Number = msgspec.field(name="Sampling", default=None)
    dropped_octets: Number = msgspec.field(name="PktDropBytes", default=None)
    round_trip_ns: Number = msgspec.field(name="TimeFlowRttNs", default=None)
    protocol: Number = msgspec.field(name="Proto", default=None)
    flags: list[str] | int | float | str | None = msgspec.field(name="Flags", default=None)

    dns_id: Number = msgspec.field(name="DnsId", default=None)
    dns_flags: Number = msgspec.field(name="DnsFlags", default=None)
    dns_code: str | None = msgspec.field(name="DnsFlagsResponseCode", default=None)
    dns_latency_ms: Number = msgspec.field(name="DnsLatencyMs", default=None)
    dns_name: str | None = msgspec.field(name="DnsName", default=None)

    source_address: str | None = msgspec.field(name="SrcAddr", default=None)
    source_port: Number = msgspec.field(name="SrcPort", default=None)
    source_xlated_address: str | None = msgspec.field(name="XlatSrcAddr", default=None)
    source_xlated_port: Number = msgspec.field(name="XlatSrcPort", default=None)
    source_type: str | None = msgspec.field(name="SrcK8S_Type", default=None)
    source_name: str | None = msgspec.field(name="SrcK8S_Name", default=None)
    source_namespace: str | None = msgspec.field(name="SrcK8S_Namespace", default=None)
    source_owner_type: str | None = msgspec.field(name="SrcK8S_OwnerType", default=None)
    source_owner_name: str | None = msgspec.field(name="SrcK8S_OwnerName", default=None)
    source_host: str | None = msgspec.field(name="SrcK8S_HostName", default=None)
    source_host_address: str | None = msgspec.field(name="SrcK8S_HostIP", default=None)
    source_zone: str | None = msgspec.field(name="SrcK8S_Zone", default=None)
    source_subnet: str | None = msgspec.field(name="SrcSubnetLabel", default=None)
    source_otel_type: str | None = msgspec.field(name="source.k8s.type", default=None)
    source_otel_name: str | None = msgspec.field(name="source.k8s.name", default=None)
    source_otel_namespace: str | None = msgspec.field(
        name="source.k8s.namespace.name", default=None
    )
    source_otel_uid: str | None = msgspec.field(name="source.k8s.pod.uid", default=None)
    source_otel_owner_type: str | None = msgspec.field(name="source.k8s.owner.type", default=None)
    source_otel_owner_name: str | None = msgspec.field(name="source.k8s.owner.name", default=None)
    source_otel_host: str | None = msgspec.field(name="source.k8s.host.name", default=None)
    source_otel_host_address: str | None = msgspec.field(name="source.k8s.host.ip", default=None)
    source_otel_zone: str | None = msgspec.field(name="source.k8s.zone", default=None)

    destination_address: str | None = msgspec.field(name="DstAddr", default=None)
    destination_port: Number = msgspec.field(name="DstPort", default=None)
    destination_xlated_address: str | None = msgspec.field(name="XlatDstAddr", default=None)
    destination_xlated_port: Number = msgspec.field(name="XlatDstPort", default=None)
    destination_type: str | None = msgspec.field(name="DstK8S_Type", default=None)
    destination_name: str | None = msgspec.field(name="DstK8S_Name", default=None)
    destination_namespace: str | None = msgspec.field(name="DstK8S_Namespace", default=None)
    destination_owner_type: str | None = msgspec.field(name="DstK8S_OwnerType", default=None)
    destination_owner_name: str | None = msgspec.field(name="DstK8S_OwnerName", default=None)
    destination_host: str | None = msgspec.field(name="DstK8S_HostName", default=None)
    destination_host_address: str | None = msgspec.field(name="DstK8S_HostIP", default=None)
    destination_zone: str | None = msgspec.field(name="DstK8S_Zone", default=None)
    destination_subnet: str | None = msgspec.field(name="DstSubnetLabel", default=None)
    destination_otel_type: str | None = msgspec.field(name="destination.k8s.type", default=None)
    destination_otel_name: str | None = msgspec.field(name="destination.k8s.name", default=None)
    destination_otel_namespace: str | None = msgspec.field(
        name="destination.k8s.namespace.name", default=None
    )
    destination_otel_uid: str | None = msgspec.field(name="destination.k8s.pod.uid", default=None)
    destination_otel_owner_type: str | None = msgspec.field(
        name="destination.k8s.owner.type", default=None
    )
    destination_otel_owner_name: str | None = msgspec.field(
        name="destination.k8s.owner.name", default=None
    )
    destination_otel_host: str | None = msgspec.field(
        name="destination.k8s.host.name", default=None
    )
    destination_otel_host_address: str | None = msgspec.field(
        name="destination.k8s.host.ip", default=None
    )
    destination_otel_zone: str | None = msgspec.field(name="destination.k8s.zone", default=None)
