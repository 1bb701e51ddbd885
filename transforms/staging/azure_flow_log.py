"""Azure flow logs of virtual networks (version 4) and of network security groups (version 2).

Source: the Network Watcher documentation's pages on both logs. A blob holds an hour of one network
card in one document, `records` of a minute each; in them, by rule, `flowTuples`: texts of 13 fields
parted by commas. A tuple is a record here, and gives one row per direction: `sent` is from the
tuple's source to its destination, `received` the other way, whichever of them opened the flow.

* A flow begins (`B`, without numbers), continues (`C`, every five minutes) and ends (`E`); what was
  refused is denied (`D`, or the decision `D` of a security group). Numbers are since the last
  tuple of the flow, so that its bytes are the sum of all `C` and `E`.
* A tuple tells only when it was written, and its interval began at the flow's last tuple, which
  may be in another file: it is looked for where intervals are read (`volume_begun`). Until then a
  row begins five minutes before, which is how often numbers are written. A tuple that begins a flow
  gives rows of no bytes for it.
* Denied tuples without numbers are ignored (`denied`), and so are those of version 1, which have
  none (`no_counters`).
* A record's rule lists (`aclID`) each tell the flows that they judged, so that two may tell one
  flow; which of them counts is decided where intervals are read.
* Times are milliseconds in version 4 and seconds in version 2, and seconds in examples of version 4
  as well; which they are is told by their size, as no log is of before 1973.
* Bytes are those of packets, with their headers. The network card is `interface_id`, its
  hardware address. Both ends' cards count the same bytes, and so do a card's network and each of
  the security groups of the card and its subnet: a group is the `reporter`, by its name.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging import volume_fields as f
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    canonical_address,
    dashed_uid,
    identity,
    instant_of_microseconds,
    integer,
)

LIST_KEY = "records"
SHOWN_KEYS = frozenset({b"time", b"category", b"operationName"})
"""Keys whose text an excerpt of a refused document may show."""
UPDATE_MICROSECONDS = 300_000_000
"""How often the numbers of a flow are written."""
MILLISECONDS_FROM = 10**11
"""As seconds this is the year 5138, as milliseconds 1973."""

_SECURITY_GROUPS = "networksecuritygroupflowevent"
_NETWORKS = "flowlogflowevent"
_FIELDS, _FIELDS_OF_VERSION_1 = 13, 8
_COUNTERS = ("packets_sent", "bytes_sent", "packets_received", "bytes_received")
_STATES = frozenset("BCED")
_DIRECTIONS = {"I": ("ingress", "egress"), "O": ("egress", "ingress")}
"""Of the flow's first packet, seen from the network card → of what was sent, of what came back."""
_PROTOCOLS = {"T": 6, "U": 17}
"""How security groups name protocols; networks write numbers."""
_MAX_ADDRESS = 64
_MAX_TUPLE = 1_024
_MAC_DIGITS = 12
_MAX_ENCRYPTION = 40


class _Group(msgspec.Struct, rename="camel"):
    rule: str | None = None
    flow_tuples: list[msgspec.Raw] | None = None


class _AclFlows(msgspec.Struct, rename="camel"):
    acl_id: str | None = msgspec.field(name="aclID", default=None)
    flow_groups: list[_Group] | None = None


class _FlowRecords(msgspec.Struct):
    flows: list[_AclFlows] | None = None


class _CardFlows(msgspec.Struct, rename="camel"):
    mac: str | None = None
    flow_tuples: list[msgspec.Raw] | None = None


class _RuleFlows(msgspec.Struct):
    rule: str | None = None
    flows: list[_CardFlows] | None = None


class _Properties(msgspec.Struct):
    flows: list[_RuleFlows] | None = None


class _Head(msgspec.Struct, rename="camel"):
    """What tells kinds of records apart; records of other categories may hold anything."""

    category: str | None = None
    mac_address: str | None = None
    target_resource_id: str | None = msgspec.field(name="targetResourceID", default=None)
    resource_id: str | None = None
    flow_records: msgspec.Raw = msgspec.Raw()
    properties: msgspec.Raw = msgspec.Raw()


class _Document(msgspec.Struct):
    records: msgspec.Raw = msgspec.Raw()


class _Place(NamedTuple):
    """Where tuples stand: their log, network card and rule.

    Attributes:
        resource: Id of the network or security group, in lower case; ids differ in case only.
        mac: Hardware address of the network card.
        acl: Rule list of a network's log.
        rule: Rule that let the flow pass, or did not.
        is_network: Whether the log is a network's.
    """

    resource: str | None
    mac: str | None
    acl: str | None
    rule: str | None
    is_network: bool


class _Tuple(NamedTuple):
    """A tuple, read.

    Attributes:
        written_us: When it was written.
        unit_us: Microseconds of the unit in which that is stated.
        ends: Addresses and ports: source, destination.
        transport: Name of the protocol.
        direction: `I` or `O`.
        state: `B`, `C`, `E` or `D`.
        encryption: How a network's log words it.
        counters: Packets and bytes sent, packets and bytes received; null where none is stated.
    """

    written_us: int
    unit_us: int
    ends: tuple[tuple[str, int | None], tuple[str, int | None]]
    transport: str
    direction: str
    state: str
    encryption: str | None
    counters: list[int | None]


_HEAD = msgspec.json.Decoder(_Head)
_FLOW_RECORDS = msgspec.json.Decoder(_FlowRecords)
_PROPERTIES = msgspec.json.Decoder(_Properties)
_DOCUMENT = msgspec.json.Decoder(_Document)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
_ANY = msgspec.json.Decoder()


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    for raw in records:
        for document in documents(raw):
            for item in _records(document):
                yield from (item,) if isinstance(item, Parsed) else _record(item, context)


def _records(document: Item) -> Iterator[Item | Parsed]:
    """The records of a document, which may be a list of them, or one."""
    try:
        step, data = "", document.data
        if data.lstrip()[:1] != b"[":
            step = f".{LIST_KEY}"
            data = bytes(decode(_DOCUMENT, data, document.path).records)
            if not data:
                yield document
                return
        items = decode(_ITEMS, data, f"{document.path}{step}")
    except RecordError as error:
        yield document.rejected(error, SHOWN_KEYS)
        return
    if not items:
        yield document.ignored("empty")
    for index, item in enumerate(items):
        yield document.part(f"{step}[{index}]", bytes(item))


def _record(item: Item, context: FileContext) -> Iterator[Parsed]:
    """The tuples of a record; a record without any is one result itself."""
    try:
        # What is passed over is not looked at in detail, but a record is read only if all is JSON.
        decode(_ANY, item.data, item.path)
        head = decode(_HEAD, item.data, item.path)
        if bytes(head.flow_records):
            found = list(_of_network(item, head))
        elif (head.category or _SECURITY_GROUPS).lower() == _SECURITY_GROUPS:
            found = list(_of_security_group(item, head))
        else:
            found = []
            if head.category is not None and head.category.lower() != _NETWORKS:
                yield item.ignored("other_category")
                return
            refuse("no_flows", "flows in flowRecords or properties", None)
    except (RecordError, RefusedError) as error:
        yield item.rejected(error, SHOWN_KEYS)
        return
    if not found:
        yield item.ignored("no_flows")
    for place, part in found:
        yield _tuple(part, place, context)


def _of_network(item: Item, head: _Head) -> Iterator[tuple[_Place, Item]]:
    flows = decode(_FLOW_RECORDS, bytes(head.flow_records), f"{item.path}.flowRecords").flows
    resource, mac = _lower(head.target_resource_id), _mac(head.mac_address)
    for i, acl in enumerate(flows or ()):
        for j, group in enumerate(acl.flow_groups or ()):
            place = _Place(resource, mac, acl.acl_id, group.rule, is_network=True)
            step = f".flowRecords.flows[{i}].flowGroups[{j}].flowTuples"
            for k, data in enumerate(group.flow_tuples or ()):
                yield place, item.part(f"{step}[{k}]", bytes(data))


def _of_security_group(item: Item, head: _Head) -> Iterator[tuple[_Place, Item]]:
    if not bytes(head.properties):
        refuse("no_flows", "flows in flowRecords or properties", None)
    flows = decode(_PROPERTIES, bytes(head.properties), f"{item.path}.properties").flows
    resource = _lower(head.resource_id)
    for i, rule in enumerate(flows or ()):
        for j, card in enumerate(rule.flows or ()):
            mac = _mac(card.mac or head.mac_address)
            place = _Place(resource, mac, None, rule.rule, is_network=False)
            step = f".properties.flows[{i}].flows[{j}].flowTuples"
            for k, data in enumerate(card.flow_tuples or ()):
                yield place, item.part(f"{step}[{k}]", bytes(data))


def _lower(resource: str | None) -> str | None:
    """An id in lower case, masked before that hides what a credential looks like."""
    return (name_text(resource) or "").lower() or None


def _mac(stated: str | None) -> str | None:
    """A hardware address as 12 digits in capitals.

    Raises:
        RefusedError: It is none.
    """
    if not stated:
        return None
    digits = stated[:32].replace("-", "").replace(":", "").upper()
    if len(digits) != _MAC_DIGITS or not set("0123456789ABCDEF").issuperset(digits):
        refuse("mac", "12 hexadecimal digits", stated)
    return digits


def _tuple(item: Item, place: _Place, context: FileContext) -> Parsed:
    try:
        text = decode(_TEXT, item.data, item.path)
        found = _read_tuple(text, is_network=place.is_network)
        if isinstance(found, str):
            return Parsed(item.locator, None, item.data, ignore=found, conceal=_concealed)
        rows = _rows(found, place, text, context)
    except (RecordError, RefusedError) as error:
        return Parsed(item.locator, None, item.data, reject=str(error), conceal=_concealed)
    ignore = None if rows else "denied"
    return Parsed(item.locator, None, item.data, rows, ignore=ignore, conceal=_concealed)


def _concealed(data: bytes) -> bytes:
    """A tuple with only those fields that look like what belongs there."""
    fields = data[:_MAX_TUPLE].decode("utf-8", "replace").strip('"').split(",")
    return ",".join(map(_shown, fields)).encode()


def _shown(text: str) -> str:
    is_known = len(text) <= 16 and (text.isdigit() or text in {"", "T", "U", "A", "NX", "X"})
    if is_known or text in _STATES or text in _DIRECTIONS or _is_address(text):
        return text
    return "…"


def _is_address(text: str) -> bool:
    return len(text) <= _MAX_ADDRESS and canonical_address(text) is not None


def _read_tuple(text: str, *, is_network: bool) -> _Tuple | str:
    """Read a tuple, or say why it is left out.

    Raises:
        RefusedError: It does not hold what a tuple holds.
    """
    fields = text.split(",") if len(text) <= _MAX_TUPLE else []
    if not is_network and len(fields) == _FIELDS_OF_VERSION_1:
        return "no_counters"
    if len(fields) != _FIELDS:
        refuse("field_count", f"{_FIELDS} fields", len(fields) or text)
    stated, source, destination, source_port, destination_port, protocol, direction = fields[:7]
    written_us, unit_us = _time(stated)
    transport = _transport(protocol, is_network=is_network)
    if direction not in _DIRECTIONS:
        refuse("direction", "I or O", direction)
    encryption = None
    if is_network:
        state, encryption = fields[7:9]
        if not encryption.isascii() or len(encryption) > _MAX_ENCRYPTION:
            refuse("encryption", "a short word", encryption)
    else:
        decision, state = fields[7:9]
        if decision not in {"A", "D"}:
            refuse("decision", "A or D", decision)
        state = "D" if decision == "D" else state
    if state not in _STATES:
        refuse("state", "B, C, E or D", state)
    counters = [
        f.octets(number or None, name) for name, number in zip(_COUNTERS, fields[9:], strict=True)
    ]
    ends = (
        (_address(source, "source"), f.port_of(transport, source_port, "source_port")),
        (_address(destination, "destination"), f.port_of(transport, destination_port, "port")),
    )
    return _Tuple(
        written_us, unit_us, ends, transport, direction, state, encryption or None, counters
    )


def _rows(found: _Tuple, place: _Place, text: str, context: FileContext) -> tuple[Row, ...]:
    """Rows of a tuple; none of a denied one without numbers.

    Raises:
        RefusedError: Its state and its numbers do not belong together.
    """
    packets_sent, bytes_sent, packets_received, bytes_received = found.counters
    is_counted = bytes_sent is not None and bytes_received is not None
    if found.state == "B":
        if any(found.counters):
            refuse("flow_begin", "no numbers where a flow begins")
        packets_sent = bytes_sent = packets_received = bytes_received = 0
    elif not is_counted:
        if found.state != "D":
            refuse("bytes", "numbers of bytes sent and received", None)
        return ()
    common = _common(found, place, context) | {
        "record_id": identity(place.resource, place.mac, place.acl, place.rule, text)
    }
    sent, received = _DIRECTIONS[found.direction]
    there = _directed(found.ends, bytes_sent, packets_sent, sent)
    rows: list[Row] = [(f.TABLE, common | there)]
    # Of what was denied nothing comes back.
    if found.state != "D" or bytes_received or packets_received:
        back = _directed(found.ends[::-1], bytes_received, packets_received, received)
        rows.append((f.TABLE, common | back))
    return tuple(rows)


def _start_us(found: _Tuple) -> int:
    """The earliest instant at which a tuple's interval began, as far as it tells itself."""
    before = {"B": 0, "D": found.unit_us}.get(found.state, UPDATE_MICROSECONDS)
    return max(found.written_us - before, 0)


def _directed(
    ends: tuple[tuple[str, int | None], ...],
    octets: int | None,
    packets: int | None,
    flow_direction: str,
) -> dict[str, Any]:
    (source, source_port), (destination, destination_port) = ends
    return {
        "source_address": source,
        "source_port": source_port,
        "destination_address": destination,
        "destination_port": destination_port,
        "bytes": octets,
        "packets": packets,
        "flow_direction": flow_direction,
    }


def _common(found: _Tuple, place: _Place, context: FileContext) -> dict[str, Any]:
    is_denied = found.state == "D"
    return {
        "start_at": instant_of_microseconds(_start_us(found)),
        "end_at": instant_of_microseconds(found.written_us),
        "account_id": _after(place.resource, "subscriptions", is_uid=True),
        "interface_id": place.mac,
        "vpc_id": _resource(place.resource, "virtualnetworks"),
        "subnet_id": _resource(place.resource, "subnets"),
        "transport": found.transport,
        "action": "REJECT" if is_denied else "ACCEPT",
        "reject_reason": name_text(place.rule) if is_denied else None,
        "connection_state": found.state,
        "encryption": name_text(found.encryption),
        "sampling_interval": None,
        "scaled": "raw",
        "reporter": None if place.is_network else _group(place.resource),
        "rule_list": name_text(place.acl),
        "temporality": context.temporality or "delta",
        "byte_layer": "packet",
    }


def _after(resource: str | None, kind: str, *, is_uid: bool = False) -> str | None:
    """The name behind a kind in a resource id; null where it has none."""
    _, _, rest = (resource or "").partition(f"/{kind}/")
    name = rest.partition("/")[0]
    return dashed_uid(name) if is_uid else name_text(name)


def _group(resource: str | None) -> str:
    """Name of a security group, which is one observer of what passes a card."""
    return _after(resource, "networksecuritygroups") or "SECURITY_GROUP"


def _resource(resource: str | None, kind: str) -> str | None:
    """The id of the resource of a kind that a resource is or lies in; null where there is none."""
    name = _after(resource, kind)
    if resource is None or not name:
        return None
    return name_text(f"{resource.partition(f'/{kind}/')[0]}/{kind}/{name}")


def _time(stated: str) -> tuple[int, int]:
    """Microseconds since 1970, and how many of them the unit has.

    Raises:
        RefusedError: It is no time.
    """
    number = integer(stated, minimum=1)
    if number is None:
        refuse("no_time", "seconds or milliseconds since 1970", stated)
    unit_us = 1_000 if number >= MILLISECONDS_FROM else 1_000_000
    at = instant_of_microseconds(number * unit_us)
    if at is None or at >= _LAST:
        refuse("no_time", "seconds or milliseconds since 1970", stated)
    return number * unit_us, unit_us


_LAST = datetime.fromisoformat("9999-01-01T00:00:00+00:00")


def _transport(stated: str, *, is_network: bool) -> str:
    if not is_network and stated in _PROTOCOLS:
        stated = str(_PROTOCOLS[stated])
    name = f.transport(stated or None, "protocol")
    if name is None:
        refuse("protocol", "a number up to 255, T or U", None)
    return name


def _address(stated: str, word: str) -> str:
    address = canonical_address(stated) if len(stated) <= _MAX_ADDRESS else None
    if address is None:
        refuse(word, "an IP address", stated)
    return address


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant, LIST_KEY)


def _variant(record: dict[str, Any]) -> str | None:
    found = record.get("flowRecords")
    if isinstance(found, dict) and isinstance(found.get("flows"), list):
        return "virtual network flow log"
    category, properties = record.get("category"), record.get("properties")
    if not isinstance(category, str) or category.lower() != _SECURITY_GROUPS:
        return None
    is_there = isinstance(properties, dict) and isinstance(properties.get("flows"), list)
    return "network security group flow log" if is_there else None


PARSER = Parser(
    name="azure_flow_log",
    title="Azure virtual network or security group flow log",
    tables=(f.TABLE,),
    shape="json",
    record="One tuple, which is both directions of one flow since its last tuple.",
    cannot_tell=(
        "Pods and machines (only addresses and the network card); when in its interval bytes "
        "passed; bytes of what a security group denied; the layer below packets."
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
    version=3,
)
