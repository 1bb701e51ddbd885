"""Bytes of a flow of NetObserv.

Source: netobserv-ebpf-agent, bpf/flows.c (`update_existing_flow`) and pkg/decode; the operator's
FAQ and docs/FlowCollector.md.

* Bytes are those since the flow's last record (`delta`), counted as the kernel's packets with their
  Ethernet headers (`frame`). They are as observed, never multiplied: one of `Sampling` packets is.
  Where that is not stated (older agents, which may sample all the same), `scaled` is `unknown`.
  A filter of the pipeline keeps one of so many flows and multiplies `Sampling` by that, which no
  record tells: the export's `record_format: sampling=flows` says that whole flows were sampled.
* Within a record the agent counts a packet on its first interface only. What stands twice all the
  same says so in `repeats`: `interface`, older agents' own mark `Duplicate`; `service`, a flow to
  or from a service's address, whose packets are seen again behind the translation; `overlay`, the
  outer packets of a tunnel between nodes. Such rows are no volume of their own.
* Translation of the source (`Xlat…`) makes two flows of the same packets, of which only the inner
  one names the pod. Both are kept, and the inner one says what the outer one is called.
* Each node reports on its own: `reporter` is the agent's address, `flow_direction` the node's view.
* `PktDropBytes` are of packets that the node dropped behind the place where they were counted.
"""

from datetime import timedelta
from typing import Any, NamedTuple

from transforms.staging import lookup_fields as f
from transforms.staging import volume_fields as v
from transforms.staging.netobserv_flow import Flow
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import dashed_uid

MAX_INTERVAL = timedelta(hours=1)
"""Agents evict flows within minutes; a much longer record is damaged."""

_DIRECTIONS = {0: "ingress", 1: "egress", 2: "inner"}
_SAMPLED = ("sampling=flows", "sampling=packets")
_MOST_FLAGS = 65_535
_MOST_INTERFACES = 64
MAX_RTT_SECONDS = 3_600


class End(NamedTuple):
    """One end of a flow, under whichever names the pipeline wrote it.

    Attributes:
        kind: Kind of the object in lower case; empty where it is unknown.
        pod_name: Name of a pod.
        namespace: Namespace of a pod or service.
        pod_uid: UID of a pod.
        workload: `Kind/name` of the owner.
        node: Name of its node.
        node_address: Address of that.
        zone: Zone of that.
        is_service: Whether it is a service's address, which no packet behind translation has.
    """

    kind: str
    pod_name: str | None
    namespace: str | None
    pod_uid: str | None
    workload: str | None
    node: str | None
    node_address: str | None
    zone: str | None
    is_service: bool


def volume(flow: Flow, record_id: str, context: FileContext) -> dict[str, Any] | None:
    """The row of `volume_records`; none where a flow states no bytes, which are then 0.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    octets = v.octets(flow.octets, "Bytes")
    if not octets:
        return None
    start_at = v.instant(flow.time_flow_start_ms, 1_000, "TimeFlowStartMs")
    end_at = v.instant(flow.time_flow_end_ms, 1_000, "TimeFlowEndMs")
    v.check_interval(start_at, end_at, MAX_INTERVAL)
    source, destination = source_end(flow), destination_end(flow)
    direction = v.whole(flow.flow_direction, 2, "FlowDirection")
    sampling = v.octets(flow.sampling, "Sampling") or None
    agent = f.address(flow.agent_address, "AgentIP")
    node = _node(agent, direction, source, destination) or context.node
    row = {
        "record_id": record_id,
        "start_at": start_at,
        "end_at": end_at,
        "node": node,
        "flow_id": name_text(flow.hash_id),
        **_ends(flow, source, destination),
        "transport": v.transport(flow.protocol, "Proto"),
        "bytes": octets,
        "packets": v.octets(flow.packets, "Packets"),
        "dropped_bytes": v.octets(flow.dropped_octets, "PktDropBytes"),
        "tcp_flags": _flags(flow),
        "flow_direction": None if direction is None else _DIRECTIONS[direction],
        "interfaces": _interfaces(flow),
        "round_trip_seconds": _round_trip(flow),
        "sampling_interval": sampling,
        "sampled_unit": _unit(context.record_format),
        "scaled": "unknown" if sampling is None else "raw",
        "reporter": agent or node,
        "temporality": context.temporality or "delta",
        "byte_layer": "frame",
    }
    return row | {"repeats": _repeats(flow, row, source, destination)}


def expected_form(stated: str) -> str | None:
    """What is expected in the place of a `record_format`; nothing where it is right."""
    return None if stated.strip() in _SAMPLED else " or ".join(_SAMPLED)


def _unit(record_format: str | None) -> str | None:
    """What was sampled, where the export's setting says so.

    Raises:
        RefusedError: It says something else.
    """
    if record_format is None:
        return None
    expected = expected_form(record_format)
    if expected is not None:
        refuse("record_format", expected, record_format)
    return record_format.strip().removeprefix("sampling=")


def _ends(flow: Flow, source: End, destination: End) -> dict[str, Any]:
    addresses = {
        "source_address": f.address(flow.source_address, "SrcAddr"),
        "source_port": v.port(flow.source_port, "SrcPort"),
        "source_xlated_address": f.address(flow.source_xlated_address, "XlatSrcAddr"),
        "source_xlated_port": v.port(flow.source_xlated_port, "XlatSrcPort"),
        "destination_address": f.address(flow.destination_address, "DstAddr"),
        "destination_port": v.port(flow.destination_port, "DstPort"),
        "destination_xlated_address": f.address(flow.destination_xlated_address, "XlatDstAddr"),
        "destination_xlated_port": v.port(flow.destination_xlated_port, "XlatDstPort"),
    }
    for end in ("source", "destination"):
        for what in ("address", "port"):
            # The agent repeats what it did not translate.
            if addresses[f"{end}_xlated_{what}"] == addresses[f"{end}_{what}"]:
                addresses[f"{end}_xlated_{what}"] = None
    return addresses | {
        f"{name}_{what}": getattr(end, what)
        for name, end in (("source", source), ("destination", destination))
        for what in ("namespace", "pod_name", "pod_uid", "workload", "node", "zone")
    }


def source_end(flow: Flow) -> End:
    """The source of a flow.

    Raises:
        RefusedError: The address of its node is none.
    """
    return _end(
        kind=flow.source_type or flow.source_otel_type,
        name=flow.source_name or flow.source_otel_name,
        namespace=flow.source_namespace or flow.source_otel_namespace,
        uid=flow.source_otel_uid,
        owner=(
            flow.source_owner_type or flow.source_otel_owner_type,
            flow.source_owner_name or flow.source_otel_owner_name,
        ),
        host=(
            flow.source_host or flow.source_otel_host,
            flow.source_host_address or flow.source_otel_host_address,
        ),
        zone=flow.source_zone or flow.source_otel_zone,
        subnet=flow.source_subnet,
    )


def destination_end(flow: Flow) -> End:
    """The destination of a flow.

    Raises:
        RefusedError: The address of its node is none.
    """
    return _end(
        kind=flow.destination_type or flow.destination_otel_type,
        name=flow.destination_name or flow.destination_otel_name,
        namespace=flow.destination_namespace or flow.destination_otel_namespace,
        uid=flow.destination_otel_uid,
        owner=(
            flow.destination_owner_type or flow.destination_otel_owner_type,
            flow.destination_owner_name or flow.destination_otel_owner_name,
        ),
        host=(
            flow.destination_host or flow.destination_otel_host,
            flow.destination_host_address or flow.destination_otel_host_address,
        ),
        zone=flow.destination_zone or flow.destination_otel_zone,
        subnet=flow.destination_subnet,
    )


def _end(
    *,
    kind: str | None,
    name: str | None,
    namespace: str | None,
    uid: str | None,
    owner: tuple[str | None, str | None],
    host: tuple[str | None, str | None],
    zone: str | None,
    subnet: str | None,
) -> End:
    kind = (kind or "").lower()
    is_pod = kind == "pod"
    return End(
        kind=kind,
        pod_name=name_text(name) if is_pod else None,
        namespace=name_text(namespace),
        pod_uid=dashed_uid(uid) if uid and is_pod else None,
        workload=name_text("/".join(owner_part or "" for owner_part in owner))
        if all(owner)
        else None,
        node=name_text(host[0]),
        node_address=f.address(host[1], "HostIP"),
        zone=name_text(zone),
        is_service=kind == "service" or (not kind and subnet == "Services"),
    )


def _node(agent: str | None, direction: int | None, source: End, destination: End) -> str | None:
    """The observing node: that of the agent's address, else the end's that the direction names."""
    for end in (source, destination):
        if agent is not None and end.node_address == agent:
            return end.node
    if direction is None:
        return None
    return destination.node if direction == 0 else source.node


def _repeats(flow: Flow, row: dict[str, Any], source: End, destination: End) -> str | None:
    if flow.is_duplicate in (True, "true"):
        return "interface"
    if source.is_service or destination.is_service:
        return "service"
    is_tunnel = row["transport"] == "UDP" and row["destination_port"] in v.OVERLAY_PORTS
    is_of_pod = "pod" in {source.kind, destination.kind}
    return "overlay" if is_tunnel and not is_of_pod else None


def _flags(flow: Flow) -> int | None:
    if isinstance(flow.flags, list):
        return v.flag_bits(flow.flags, "Flags")
    return v.whole(flow.flags, _MOST_FLAGS, "Flags")


def _interfaces(flow: Flow) -> list[str] | None:
    names = flow.interfaces or ([flow.interface] if flow.interface else [])
    kept = [name_text(name) for name in names[:_MOST_INTERFACES]]
    return [name for name in kept if name] or None


def _round_trip(flow: Flow) -> float | None:
    nanoseconds = v.octets(flow.round_trip_ns, "TimeFlowRttNs")
    if not nanoseconds or nanoseconds > MAX_RTT_SECONDS * 10**9:
        return None
    return nanoseconds / 10**9
