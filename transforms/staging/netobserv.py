"""NetObserv flows as JSON: look-ups that the eBPF agent's DNS tracking told of in a flow.

Source: netobserv/network-observability-operator, docs/flows-format.adoc; netobserv-ebpf-agent,
bpf/dns_tracker.h, pkg/decode and pkg/model (how the parts of a flow are united).

* A flow is one direction of one socket within a few seconds. The agent tells of DNS only in the
  flow of the response: id, flags, code, latency and name of what came last. Where the flow has more
  than one packet (A and AAAA of one socket), flags are united bit by bit and the latency is the
  longest, so that they are of no one response: a code other than 0, the latency and the id are
  then null.
* The time is the end of the flow, in milliseconds.
* One look-up is seen on each node that it passes, before and after translation. Rows are flows that
  arrive (`FlowDirection` 0, or 2 within a node) from the server's own address; what leaves the
  server's node is ignored as `resolver_side`, what comes from a service's address as `translated`,
  and older agents' own mark `Duplicate` as `duplicate`. Flows of queries say nothing of DNS.
* The name is cut at the last label within 31 bytes, and nothing tells a cut name from a whole one.
  A name is believed where it ends as a name does: under a public suffix or with the cluster's
  domain. Any other is ignored as `cut_name`. What ends under a public suffix may still be the
  beginning of a longer one that a search list made, whose code is not that of the name; so a code
  is kept there only if it is NOERROR.
* Neither the type asked nor answers are exported. Flows are sampled as `Sampling` says.
* Flows without a DNS id, records of the connection tracking, and flows whose name was not told are
  ignored as `no_dns`, `connection` and `no_name`.
"""

from collections.abc import Iterable, Iterator

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.dns_names import MAX_NAME, rcode_name
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import Row, parse_lookups, recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import refuse
from transforms.staging.search_suffix import ends_with_cluster_domain, has_public_suffix
from transforms.staging.stored_text import name_text
from transforms.staging.values import canonical_name, instant_of_microseconds

SHOWN_KEYS = frozenset(
    {
        b"DnsName", b"DnsFlagsResponseCode", b"SrcAddr", b"DstAddr", b"SrcK8S_Name",
        b"SrcK8S_Namespace", b"SrcK8S_Type", b"SrcK8S_HostName", b"DstK8S_Name",
        b"DstK8S_Namespace", b"DstK8S_Type", b"DstK8S_HostName", b"AgentIP", b"FlowDirection",
        b"_RecordType", b"K8S_FlowLayer",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show."""

_MARKS = ("TimeFlowStartMs", "TimeFlowEndMs")
_RESPONSE = 0x8000
_RCODE = 0xF
_DNS_PORT = 53
_TRANSPORTS = {6: "TCP", 17: "UDP"}
_EGRESS = 1
_MAX_MILLISECONDS = 253_402_300_799_999
"""The end of the year 9999."""

Number = int | float | str | None
"""Numbers that are labels of a log store are texts."""


class _Flow(msgspec.Struct):
    """What is read of a flow."""

    time_flow_end_ms: Number = msgspec.field(name="TimeFlowEndMs", default=None)
    record_type: str | None = msgspec.field(name="_RecordType", default=None)
    flow_direction: Number = msgspec.field(name="FlowDirection", default=None)
    is_duplicate: bool | str | None = msgspec.field(name="Duplicate", default=None)
    packets: Number = msgspec.field(name="Packets", default=None)
    protocol: Number = msgspec.field(name="Proto", default=None)

    dns_id: Number = msgspec.field(name="DnsId", default=None)
    dns_flags: Number = msgspec.field(name="DnsFlags", default=None)
    dns_code: str | None = msgspec.field(name="DnsFlagsResponseCode", default=None)
    dns_latency_ms: Number = msgspec.field(name="DnsLatencyMs", default=None)
    dns_name: str | None = msgspec.field(name="DnsName", default=None)

    source_address: str | None = msgspec.field(name="SrcAddr", default=None)
    source_port: Number = msgspec.field(name="SrcPort", default=None)
    source_type: str | None = msgspec.field(name="SrcK8S_Type", default=None)
    source_name: str | None = msgspec.field(name="SrcK8S_Name", default=None)
    source_namespace: str | None = msgspec.field(name="SrcK8S_Namespace", default=None)
    source_host: str | None = msgspec.field(name="SrcK8S_HostName", default=None)

    destination_address: str | None = msgspec.field(name="DstAddr", default=None)
    destination_port: Number = msgspec.field(name="DstPort", default=None)
    destination_type: str | None = msgspec.field(name="DstK8S_Type", default=None)
    destination_name: str | None = msgspec.field(name="DstK8S_Name", default=None)
    destination_namespace: str | None = msgspec.field(name="DstK8S_Namespace", default=None)
    destination_host: str | None = msgspec.field(name="DstK8S_HostName", default=None)


_FLOW = msgspec.json.Decoder(_Flow)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_lookups(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> Row | str:
    flow = decode(_FLOW, item.data, item.path)
    if flow.time_flow_end_ms is None:
        refuse("no_time", "milliseconds since 1970 in TimeFlowEndMs", None)
    return _left_out(flow) or _lookup(flow, item, context)


# -- look-ups ------------------------------------------------------------------------------------


def _left_out(flow: _Flow) -> str | None:
    """Why a flow gives no look-up.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    if flow.record_type not in {None, "", "flowLog"}:
        return "connection"
    if not _whole(flow.dns_id, 65_535, "DnsId") and not flow.dns_name:
        return "no_dns"
    if _is_query(flow):
        return "query"
    if flow.is_duplicate in (True, "true"):
        return "duplicate"
    if _whole(flow.flow_direction, 2, "FlowDirection") == _EGRESS:
        return "resolver_side"
    if (flow.source_type or "").lower() == "service":
        return "translated"
    return _name_problem(flow.dns_name)


def _is_query(flow: _Flow) -> bool:
    flags = _whole(flow.dns_flags, 65_535, "DnsFlags")
    if flags is not None:
        return not flags & _RESPONSE
    source = _whole(flow.source_port, 65_535, "SrcPort")
    return source != _DNS_PORT and _whole(flow.destination_port, 65_535, "DstPort") == _DNS_PORT


def _name_problem(stated: str | None) -> str | None:
    if not stated:
        return "no_name"
    name = canonical_name(stated[:MAX_NAME])
    return None if has_public_suffix(name) or ends_with_cluster_domain(name) else "cut_name"


def _lookup(flow: _Flow, item: Item, context: FileContext) -> Row:
    """The row of a response; its destination is the client."""
    milliseconds = _whole(flow.time_flow_end_ms, _MAX_MILLISECONDS, "TimeFlowEndMs")
    event_at = None if milliseconds is None else instant_of_microseconds(milliseconds * 1_000)
    is_alone = _whole(flow.packets, 2**53, "Packets") == 1
    rcode = _rcode(flow, is_alone=is_alone)
    name = f.raw_name(flow.dns_name or "")
    if rcode != "NOERROR" and not ends_with_cluster_domain(name):
        rcode = None
    is_pod = (flow.destination_type or "").lower() == "pod"
    namespace = name_text(flow.destination_namespace) if is_pod else None
    message_id = _whole(flow.dns_id, 65_535, "DnsId")
    return {
        "record_id": whole_record_id(item),
        "event_at": event_at,
        "node": name_text(flow.destination_host) or context.node,
        "client_address": f.address(flow.destination_address, "DstAddr"),
        "client_port": f.port(flow.destination_port, "DstPort"),
        "client_namespace": namespace,
        "client_pod_name": name_text(flow.destination_name) if is_pod else None,
        "client_pod_uid": None,
        "resolver_address": f.address(flow.source_address, "SrcAddr"),
        "transport": _TRANSPORTS.get(_whole(flow.protocol, 255, "Proto") or 0),
        **f.asked(name, rcode, namespace=namespace),
        "query_type": None,
        "rcode": rcode,
        "answers": None,
        "latency_seconds": _latency(flow) if is_alone else None,
        "is_response": True,
        "dns_message_id": message_id if is_alone else None,
    }


def _rcode(flow: _Flow, *, is_alone: bool) -> str | None:
    """Code of the response; null where several were united to one that may be of none."""
    flags = _whole(flow.dns_flags, 65_535, "DnsFlags")
    rcode = rcode_name(flow.dns_code or "") if flags is None else rcode_name(str(flags & _RCODE))
    return rcode if is_alone or rcode == "NOERROR" else None


def _latency(flow: _Flow) -> float | None:
    """Milliseconds as seconds; 0 is less than one, and what is out of range is null."""
    stated = flow.dns_latency_ms
    if isinstance(stated, int) and 0 <= stated <= f.MAX_LATENCY_SECONDS * 1_000:
        return stated / 1_000
    return None


def _whole(stated: Number, maximum: int, word: str) -> int | None:
    """A whole number; null where it is absent.

    Raises:
        RefusedError: It is none, or out of range.
    """
    if isinstance(stated, str):
        digits = stated.isascii() and stated.isdigit() and len(stated) <= 20
        stated = int(stated) if digits else stated
    elif isinstance(stated, float) and stated.is_integer() and abs(stated) < 2**53:
        stated = int(stated)
    if stated is None or stated == "":
        return None
    if not isinstance(stated, int):
        refuse(word, "a whole number", stated)
    if not 0 <= stated <= maximum:
        refuse(word, f"0 to {maximum}", stated)
    return stated


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant)


def _variant(flow: Row) -> str | None:
    is_flow = all(key in flow for key in _MARKS) and ("AgentIP" in flow or "SrcAddr" in flow)
    return "flow records" if is_flow else None


PARSER = Parser(
    name="netobserv",
    title="NetObserv flows",
    tables=(f.TABLE,),
    shape="json",
    record="one flow: one direction of a socket for a few seconds; only its DNS fields are used",
    cannot_tell=(
        "answers and the type asked; names of more than 31 bytes, and codes but NOERROR of names "
        "that may have been longer; queries without a response; which of several responses of one "
        "flow had a code or latency; look-ups that sampling left out; the pod's UID"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "node", "client_address", "client_port", "client_namespace", "client_pod_name",
        "resolver_address", "transport", "rcode", "latency_seconds", "dns_message_id",
    ),
)  # fmt: skip
