"""NetObserv flows as JSON: bytes (netobserv_volumes.py), and look-ups that a flow tells of.

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
* Records of the connection tracking repeat the bytes of their flows and are ignored as
  `connection`. A flow without bytes is ignored by why it gives no look-up: `no_bytes` where it
  says nothing of DNS, `no_name`, or a word above.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.dns_names import MAX_NAME, rcode_name
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.netobserv_flow import Flow
from transforms.staging.netobserv_volumes import destination_end, expected_form, source_end, volume
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.search_suffix import ends_with_cluster_domain, has_public_suffix
from transforms.staging.values import canonical_name, instant_of_microseconds
from transforms.staging.volume_fields import TABLE, whole

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
RESPONSE = 0x8000
"""Flag of a response."""
RCODE = 0xF
"""Flags that are its code."""
DNS_PORT = 53
_TRANSPORTS = {6: "TCP", 17: "UDP"}
_EGRESS = 1
_MAX_MILLISECONDS = 253_402_300_799_999
"""The end of the year 9999."""

_FLOW = msgspec.json.Decoder(Flow)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_items(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    flow = decode(_FLOW, item.data, item.path)
    if flow.time_flow_end_ms is None:
        refuse("no_time", "milliseconds since 1970 in TimeFlowEndMs", None)
    if flow.record_type not in {None, "", "flowLog"}:
        return "connection"
    record_id = whole_record_id(item)
    left_out = _left_out(flow)
    lookup = None if left_out else _lookup(flow, record_id, context)
    found = volume(flow, record_id, context)
    rows = [(f.TABLE, lookup)] if lookup else []
    if found is not None:
        rows.append((TABLE, found))
    return tuple(rows) or (left_out or "no_bytes")


# -- look-ups ------------------------------------------------------------------------------------


def _left_out(flow: Flow) -> str | None:
    """Why a flow gives no look-up.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    if not whole(flow.dns_id, 65_535, "DnsId") and not flow.dns_name:
        return "no_bytes"
    if _is_query(flow):
        return "query"
    return seen_elsewhere(flow) or name_problem(flow.dns_name)


def seen_elsewhere(flow: Flow) -> str | None:
    """Why a response gives no look-up where it is seen: it does at another place.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    if flow.is_duplicate in (True, "true"):
        return "duplicate"
    if whole(flow.flow_direction, 2, "FlowDirection") == _EGRESS:
        return "resolver_side"
    return "translated" if source_end(flow).is_service else None


def _is_query(flow: Flow) -> bool:
    flags = whole(flow.dns_flags, 65_535, "DnsFlags")
    if flags is not None:
        return not flags & RESPONSE
    source = whole(flow.source_port, 65_535, "SrcPort")
    return source != DNS_PORT and whole(flow.destination_port, 65_535, "DstPort") == DNS_PORT


def name_problem(stated: str | None) -> str | None:
    """Why a name is not believed."""
    if not stated:
        return "no_name"
    name = canonical_name(stated[:MAX_NAME])
    return None if has_public_suffix(name) or ends_with_cluster_domain(name) else "cut_name"


def _lookup(flow: Flow, record_id: str, context: FileContext) -> dict[str, Any]:
    """The row of a response; its destination is the client."""
    milliseconds = whole(flow.time_flow_end_ms, _MAX_MILLISECONDS, "TimeFlowEndMs")
    event_at = None if milliseconds is None else instant_of_microseconds(milliseconds * 1_000)
    is_alone = whole(flow.packets, 2**53, "Packets") == 1
    rcode = _rcode(flow, is_alone=is_alone)
    name = f.raw_name(flow.dns_name or "")
    if rcode != "NOERROR" and not ends_with_cluster_domain(name):
        rcode = None
    client = client_of(flow)
    message_id = whole(flow.dns_id, 65_535, "DnsId")
    return {
        "record_id": record_id,
        "event_at": event_at,
        **client,
        "node": client["node"] or context.node,
        "client_address": f.address(flow.destination_address, "DstAddr"),
        "client_port": f.port(flow.destination_port, "DstPort"),
        "resolver_address": f.address(flow.source_address, "SrcAddr"),
        "transport": transport(flow.protocol),
        **f.asked(name, rcode, namespace=client["client_namespace"]),
        "query_type": None,
        "rcode": rcode,
        "answers": None,
        "latency_seconds": latency(flow.dns_latency_ms) if is_alone else None,
        "is_response": True,
        "dns_message_id": message_id if is_alone else None,
    }


def client_of(flow: Flow) -> dict[str, str | None]:
    """Node and pod of the client, which a response goes to.

    Raises:
        RefusedError: The address of its node is none.
    """
    client = destination_end(flow)
    return {
        "node": client.node,
        "client_namespace": client.namespace if client.kind == "pod" else None,
        "client_pod_name": client.pod_name,
        "client_pod_uid": client.pod_uid,
    }


def transport(protocol: object) -> str | None:
    """Transport of a look-up by the protocol's number.

    Raises:
        RefusedError: It is no such number.
    """
    return _TRANSPORTS.get(whole(protocol, 255, "Proto") or 0)


def _rcode(flow: Flow, *, is_alone: bool) -> str | None:
    """Code of the response; null where several were united to one that may be of none."""
    flags = whole(flow.dns_flags, 65_535, "DnsFlags")
    rcode = rcode_name(flow.dns_code or "") if flags is None else rcode_name(str(flags & RCODE))
    return rcode if is_alone or rcode == "NOERROR" else None


def latency(milliseconds: object) -> float | None:
    """Milliseconds as seconds; 0 is less than one, and what is out of range is null."""
    if isinstance(milliseconds, int) and 0 <= milliseconds <= f.MAX_LATENCY_SECONDS * 1_000:
        return milliseconds / 1_000
    return None


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant)


def _variant(flow: dict[str, Any]) -> str | None:
    is_flow = all(key in flow for key in _MARKS) and ("AgentIP" in flow or "SrcAddr" in flow)
    return "flow records" if is_flow else None


PARSER = Parser(
    name="netobserv",
    title="NetObserv flows",
    tables=(f.TABLE, TABLE),
    shape="json",
    record="one flow: one direction of a socket for a few seconds",
    cannot_tell=(
        "answers and the type asked; names of more than 31 bytes, and codes but NOERROR of names "
        "that may have been longer; queries without a response; which of several responses of one "
        "flow had a code or latency; what sampling left out; the pod's UID, but for pipelines that "
        "write OpenTelemetry's names"
    ),
    recognise=_recognise,
    parse=_parse,
    expected_form=expected_form,
    optional_columns=(
        "node", "client_address", "client_port", "client_namespace", "client_pod_name",
        "resolver_address", "transport", "rcode", "latency_seconds", "dns_message_id",
    ),
    tested_on="real",
    version=2,
)  # fmt: skip
