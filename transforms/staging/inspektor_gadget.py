"""Inspektor Gadget `trace_dns` events as JSON: one event per DNS packet in a network namespace.

Source: inspektor-gadget, gadgets/trace_dns (program.bpf.c, go/program.go, gadget.yaml), and the
earlier built-in gadget `trace dns` with its own names of fields.

* One look-up is seen as query and response, and both in the namespace of the client, of the
  resolver and of the hosts that they pass. Rows are responses (`qr` R) that arrive (`pkt_type`
  HOST) in the client's namespace; so one look-up counts once. Queries are ignored: the gadget does
  not tell which ones stay without a response, and none is a row. Ignored are also responses that
  leave a resolver (`resolver_side`) and those that pass a host on their way (`passing`): the event
  names a pod that is not the receiver, or it names no pod and measured no latency, which it does
  where the asking process is on this host.
* `addresses` are the A and AAAA answers; aliases, owners, other types and times to live are not
  exported. A response whose answers are all of other types has null answers.
* Where no latency is measured the gadget writes 0, which is null here.
* Pod, namespace and node are the client's, as the gadget knows them; it knows the container too,
  for which `dns_lookups` has no column. Resolver is the `nameserver`.
* Multicast DNS (port 5353) has no resolver and is ignored.
* Times are RFC 3339, or nanoseconds since 1970; nanoseconds since boot, which earlier versions
  wrote, are no time.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import Row, parse_lookups, recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import instant_of_microseconds, parse_instant

SHOWN_KEYS = frozenset(
    {
        b"timestamp", b"qr", b"qtype", b"name", b"rcode", b"id", b"pkt_type", b"pktType", b"addr",
        b"nameserver", b"proto", b"protocol", b"srcIP", b"dstIP", b"addresses", b"namespace",
        b"podName", b"node", b"containerName",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; paths and names of processes are not among them."""

_RCODES = {
    "Success": "NOERROR", "FormatError": "FORMERR", "ServerFailure": "SERVFAIL",
    "NameError": "NXDOMAIN", "NotImplemented": "NOTIMP", "Refused": "REFUSED",
}  # fmt: skip
"""Names that Go's DNS package has; others are numbers or, of the built-in gadget, usual names."""
_PACKETS = ("HOST", "BROADCAST", "MULTICAST", "OTHERHOST", "OUTGOING", "LOOPBACK", "USER", "KERNEL")
_HEX_ID = re.compile(r"(?:0x)?([0-9A-Fa-f]{1,4})")
_SINCE_1970 = 10**17
"""Nanoseconds from 1973 on; a host does not run for three years."""


class _Kubernetes(msgspec.Struct, rename="camel"):
    node: str | None = None
    namespace: str | None = None
    pod_name: str | None = None


class _Owner(msgspec.Struct):
    """Object behind an address."""

    kind: str | None = None
    name: str | None = None
    namespace: str | None = None


class _Endpoint(msgspec.Struct):
    addr: str | None = None
    port: int | None = None
    proto: str | None = None
    k8s: _Owner | None = None


class Event(msgspec.Struct):
    """Fields of the gadget, then those that the built-in gadget named otherwise."""

    timestamp: int | str | None = None
    qr: str | None = None
    id: int | str | None = None
    qtype: str | None = None
    qtype_raw: int | None = None
    name: str | None = None
    rcode: str | None = None
    rcode_raw: int | None = None
    pkt_type: str | None = None
    pkt_type_raw: int | None = None
    latency_ns_raw: int | None = None
    addresses: str | list[str] | None = None
    num_answers: int | None = None
    src: _Endpoint | None = None
    dst: _Endpoint | None = None
    nameserver: _Endpoint | str | None = None
    k8s: _Kubernetes | None = None

    pkt_type_before: str | None = msgspec.field(name="pktType", default=None)
    latency: int | None = None
    num_answers_before: int | None = msgspec.field(name="numAnswers", default=None)
    src_ip: str | None = msgspec.field(name="srcIP", default=None)
    dst_ip: str | None = msgspec.field(name="dstIP", default=None)
    src_port: int | None = msgspec.field(name="srcPort", default=None)
    dst_port: int | None = msgspec.field(name="dstPort", default=None)
    protocol: str | None = None
    node: str | None = None
    namespace: str | None = None
    pod: str | None = None


_EVENT = msgspec.json.Decoder(Event)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_lookups(records, context, _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> Row | str:
    event = decode(_EVENT, item.data, item.path)
    source = event.src or _Endpoint(event.src_ip, event.src_port, event.protocol)
    client = event.dst or _Endpoint(event.dst_ip, event.dst_port, event.protocol)
    pod = event.k8s or _Kubernetes()
    if pod.pod_name is None and event.pod:
        pod = _Kubernetes(event.node, event.namespace, event.pod)
    latency = event.latency if event.latency_ns_raw is None else event.latency_ns_raw
    left_out = _left_out(event, source, client, pod, is_measured=bool(latency))
    if left_out is not None:
        return left_out
    if event.name is None:
        refuse("name", "a name", None)
    if not event.name:
        return "no_question"
    rcode = _rcode(event)
    namespace, answers = name_text(pod.namespace), _answers(event)
    return {
        "record_id": whole_record_id(item),
        "event_at": _event_at(event.timestamp),
        "node": name_text(pod.node or event.node) or context.node,
        "client_address": f.address(client.addr, "client"),
        "client_port": f.port(client.port, "client"),
        "client_namespace": namespace,
        "client_pod_name": name_text(pod.pod_name),
        "client_pod_uid": None,
        "resolver_address": f.address(_nameserver(event) or source.addr, "nameserver"),
        "transport": f.transport(client.proto or source.proto),
        **f.asked(f.raw_name(event.name), rcode, namespace=namespace),
        "query_type": _query_type(event),
        "rcode": rcode,
        "answers": answers,
        "latency_seconds": _seconds(latency),
        "is_response": True,
        "dns_message_id": message_id(event.id),
    }


def _left_out(
    event: Event, source: _Endpoint, client: _Endpoint, pod: _Kubernetes, *, is_measured: bool
) -> str | None:
    """Why an event is left out by rule.

    Raises:
        RefusedError: It is no event of this gadget.
    """
    if event.qr not in {"Q", "R"}:
        refuse("qr", "Q or R", event.qr)
    if f.MULTICAST_PORTS & {source.port, client.port}:
        return "multicast"
    if event.qr == "Q":
        return "query"
    packet = _packet(event)
    if packet != "HOST":
        return "resolver_side" if packet == "OUTGOING" else "passing"
    if not pod.pod_name:
        return None if is_measured else "passing"
    owner = client.k8s
    if owner is None or (owner.kind or "").lower() != "pod":
        return None
    is_receiver = (owner.namespace, owner.name) == (pod.namespace, pod.pod_name)
    return None if is_receiver else "passing"


def _packet(event: Event) -> str:
    """How the packet stands to the namespace."""
    name = event.pkt_type or event.pkt_type_before
    if name is None and event.pkt_type_raw in range(len(_PACKETS)):
        name = _PACKETS[event.pkt_type_raw or 0]
    if name not in _PACKETS:
        refuse("pkt_type", "a packet type such as HOST", name)
    return name


def _event_at(stated: int | str | None) -> datetime:
    at = None
    if isinstance(stated, str):
        at = parse_instant(stated)
    elif stated is not None and stated >= _SINCE_1970:
        at = instant_of_microseconds(stated // 1_000)
    if at is None:
        refuse("no_time", "an RFC 3339 time or nanoseconds since 1970 in timestamp", stated)
    return at


def _nameserver(event: Event) -> str | None:
    server = event.nameserver
    return server.addr if isinstance(server, _Endpoint) else server


def _seconds(nanoseconds: int | None) -> float | None:
    """Nanoseconds as seconds; null where they are not measured, or are too many."""
    if nanoseconds is None or nanoseconds.bit_length() > 63:
        return None
    return f.measured_seconds(nanoseconds / 10**9)


def _query_type(event: Event) -> str | None:
    """Type asked; the number is surer than the gadget's name (`ALL`, or the number as text)."""
    raw = f.number(event.qtype_raw, 65_535, "qtype_raw")
    if raw:
        return f.record_type(f"TYPE{raw}")
    name = event.qtype
    if not name:
        return None
    return f.record_type(f"TYPE{name}" if name.isdecimal() else "ANY" if name == "ALL" else name)


def _rcode(event: Event) -> str:
    if event.rcode:
        return _RCODES.get(event.rcode) or f.response_code(event.rcode)
    raw = f.number(event.rcode_raw, 4_095, "rcode_raw")
    return f.response_code(None if raw is None else str(raw))


def _answers(event: Event) -> list[f.Answer] | None:
    """Answers with an address; null where the event tells of none, or of others only."""
    stated = event.addresses
    if stated is None:
        return None
    texts = stated.split(",") if isinstance(stated, str) else stated
    found = [_answer(text) for text in f.not_too_many(texts) if text]
    count = event.num_answers if event.num_answers is not None else event.num_answers_before
    return found if found or count == 0 else None


def _answer(text: str) -> f.Answer:
    found = f.address(text, "addresses")
    return f.answer("AAAA" if ":" in text else "A", found)


def message_id(stated: int | str | None) -> int | None:
    """Id in the DNS header, which the gadget writes as hexadecimal digits."""
    if isinstance(stated, str):
        match = _HEX_ID.fullmatch(stated)
        if match is None:
            refuse("id", "up to 4 hexadecimal digits", stated)
        return int(match[1], 16)
    return f.number(stated, 65_535, "id")


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant)


def _variant(event: Row) -> str | None:
    is_packet = event.get("qr") in ("Q", "R") and "qtype" in event
    if not is_packet or not isinstance(event.get("name"), str):
        return None
    if "pkt_type" in event or "pkt_type_raw" in event:
        return "trace_dns events"
    return "events of the built-in trace dns gadget" if "pktType" in event else None


PARSER = Parser(
    name="inspektor_gadget",
    title="Inspektor Gadget trace_dns",
    tables=(f.TABLE,),
    shape="json",
    record="one event: one DNS packet in one network namespace",
    cannot_tell=(
        "queries without a response; aliases, times to live and other answers than addresses; the "
        "pod's UID; DNS over TLS or HTTPS, on other ports than 53, and TCP messages in several "
        "segments; events that were lost"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "node", "client_address", "client_namespace", "client_pod_name", "transport", "answers",
        "latency_seconds", "dns_message_id",
    ),
)  # fmt: skip
