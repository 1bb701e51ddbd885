"""AWS flow logs of networks and transit gateways: one line per flow and aggregation interval.

Source: the VPC user guide's and the transit gateway guide's pages on flow log records, fields of
versions 2 to 11. Files in S3 begin with a line that names the fields in the order that the flow log
was given; files from elsewhere have no such line, so the order comes from the `record_format`
setting, or is the default of version 2, or that of transit gateways. The line of names is no
record. `version` says little (it is wrong in public lines), the names say everything. Rows of
Parquet files are objects by field, whose names may have underscores; null is `-`.

A transit gateway's record is of an attachment, which is the `interface_id`; the ends' own
interfaces count the same bytes. So does a NAT gateway; a regional one names no interface but a
resource. Both say so in `reporter`. Tags, which hold any text of users, are not kept.

Times are whole seconds of the first and last packet. `end` is taken as the exclusive end, which
moves bytes by less than a second; where both are one second, the interval is that second.

Bytes are as observed, of this interval only, and each interface reports on its own: one packet is
in the records of every interface that it passes. AWS does not say at which layer it counts; the
records speak of IP packets, so `packet` is taken.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec

from transforms.redaction import redact_name
from transforms.staging import volume_fields as f
from transforms.staging.json_heads import first_value
from transforms.staging.json_records import RecordError, decode, rejected_masked
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    Row,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.stored_text import name_text
from transforms.staging.values import (
    INT64_MAX,
    canonical_address,
    identity,
    instant_of_microseconds,
    integer,
    later,
)

MAX_LINE_BYTES = 64 << 10
"""A record of every field of every version takes some 2 KiB."""
MAX_INTERVAL = timedelta(hours=1)
"""AWS aggregates over 10 minutes at most; a much longer record is damaged."""

_DEFAULT = (
    "version", "account-id", "interface-id", "srcaddr", "dstaddr", "srcport", "dstport",
    "protocol", "packets", "bytes", "start", "end", "action", "log-status",
)  # fmt: skip
_GATEWAY_DEFAULT = (
    "version", "resource-type", "account-id", "tgw-id", "tgw-attachment-id",
    "tgw-src-vpc-account-id", "tgw-dst-vpc-account-id", "tgw-src-vpc-id", "tgw-dst-vpc-id",
    "tgw-src-subnet-id", "tgw-dst-subnet-id", "tgw-src-eni", "tgw-dst-eni", "tgw-src-az-id",
    "tgw-dst-az-id", "tgw-pair-attachment-id", "srcaddr", "dstaddr", "srcport", "dstport",
    "protocol", "packets", "bytes", "start", "end", "log-status", "type", "packets-lost-no-route",
    "packets-lost-blackhole", "packets-lost-mtu-exceeded", "packets-lost-ttl-expired", "tcp-flags",
    "region", "flow-direction", "pkt-src-aws-service", "pkt-dst-aws-service",
)  # fmt: skip
_KNOWN = frozenset(_DEFAULT) | frozenset(_GATEWAY_DEFAULT) | frozenset(
    {
        "vpc-id", "subnet-id", "instance-id", "tcp-flags", "type", "pkt-srcaddr", "pkt-dstaddr",
        "region", "az-id", "sublocation-type", "sublocation-id",
        "pkt-src-aws-service", "pkt-dst-aws-service", "flow-direction", "traffic-path",
        "ecs-cluster-arn", "ecs-cluster-name", "ecs-container-instance-arn",
        "ecs-container-instance-id", "ecs-container-id", "ecs-second-container-id",
        "ecs-service-name", "ecs-task-definition-arn", "ecs-task-arn", "ecs-task-id",
        "reject-reason", "resource-id", "encryption-status",
        "instance-tag", "instance-tag-2", "interface-tag", "interface-tag-2", "asg-tag",
        "asg-tag-2", "interface-type", "next-hop-interface-id",
        "next-hop-subnet-id", "next-hop-vpc-id", "next-hop-az-id", "next-hop-interface-type",
    }
)  # fmt: skip
"""Fields of versions 2 to 11; a header may name newer ones, which are passed over."""
_TELLING = frozenset(
    {
        "interface-id", "srcaddr", "dstaddr", "log-status", "pkt-srcaddr", "pkt-dstaddr",
        "tgw-attachment-id",
    }
)  # fmt: skip
"""Fields by which an object is told from any other; a header has an order beside its names."""
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_STATUSES = frozenset({"OK", "NODATA", "SKIPDATA"})

_ID = re.compile(r"[a-z0-9-]{1,64}")
_ACCOUNT = re.compile(r"[0-9]{1,20}|unknown")
_SERVICE = re.compile(r"[A-Z0-9_]{1,40}")
_WORD = re.compile(r"[A-Za-z_]{1,40}")
_PATH = re.compile(r"[0-9]{1,3}")
_DIRECTION = re.compile(r"ingress|egress")
_ACTION = re.compile(r"ACCEPT|REJECT")
_TRAFFIC = re.compile(r"[A-Za-z0-9]{1,16}")
_WORD_OR_NUMBER = re.compile(r"[A-Za-z0-9_-]{1,40}")
_ENCRYPTIONS = {"0": "none", "1": "nitro", "2": "application", "3": "nitro_and_application"}

NAT_GATEWAY, TRANSIT_GATEWAY = "NAT_GATEWAY", "TRANSIT_GATEWAY"
_GATEWAYS = {
    "nat_gateway": NAT_GATEWAY,
    "regional_nat_gateway": NAT_GATEWAY,
    "transit_gateway": TRANSIT_GATEWAY,
}
"""Kinds of interfaces through which traffic of others passes."""
_ARNS = {"ecs-cluster-arn": "ecs_cluster_name", "ecs-task-arn": "ecs_task_id"}
_SUBLOCATION = ("sublocation-type", "sublocation-id")
_CONTAINERS = ("ecs-container-id", "ecs-second-container-id")
_LOST = (
    "packets-lost-no-route", "packets-lost-blackhole", "packets-lost-mtu-exceeded",
    "packets-lost-ttl-expired",
)  # fmt: skip
SHOWN_KEYS = frozenset(
    key.encode()
    for name in ("action", "log-status", "flow-direction", "type", "srcaddr", "dstaddr")
    for key in {name, name.replace("-", "_")}
)
"""Keys of a refused row whose text an excerpt may show; tags hold any text of users."""
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _fields_of(tokens: list[str]) -> tuple[str, ...] | None:
    """Give the fields that a line names; none where the line is no header."""
    names = tuple(token.lower().replace("_", "-") for token in tokens)
    known = sum(name in _KNOWN for name in names)
    if known < 2 or known * 2 < len(names) or not all(map(_NAME.fullmatch, names)):
        return None
    return names


def _unusable(names: tuple[str, ...]) -> str | None:
    """Why records cannot be read by these fields, if they cannot."""
    return "header: expected each field once" if len(set(names)) < len(names) else None


def _default_order(tokens: list[str]) -> tuple[str, ...] | None:
    """The fields of a record without a header that has those of a default; else none."""
    if (
        len(tokens) == len(_DEFAULT)
        and tokens[0] == "2"
        and tokens[2].startswith("eni-")
        and tokens[-1] in _STATUSES
    ):
        return _DEFAULT
    if (
        len(tokens) == len(_GATEWAY_DEFAULT)
        and tokens[3].startswith("tgw-")
        and tokens[4].startswith("tgw-attach-")
        and tokens[25] in _STATUSES
    ):
        return _GATEWAY_DEFAULT
    return None


def _recognise(head: bytes) -> Recognition:
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    if first.lstrip()[:1] == b"{":
        value = first_value(head)
        names = tuple(map(_field_name, value)) if isinstance(value, dict) else ()
        known = sum(name in _KNOWN for name in names)
        is_told = len(_TELLING.intersection(names)) >= 2 and known * 2 >= len(names)
        return Recognition(3, f"rows of {len(names)} fields") if is_told else Recognition(0)
    tokens = first[:MAX_LINE_BYTES].decode("utf-8", "replace").split()
    header = _fields_of(tokens)
    if header is not None:
        usable = _unusable(header) is None
        return Recognition(3, f"header of {len(header)} fields") if usable else Recognition(0)
    order = _default_order(tokens)
    if order is not None:
        kind = "version 2" if order is _DEFAULT else "transit gateways"
        return Recognition(2, f"no header, default fields of {kind}")
    may_be = (
        len(tokens) >= 8
        and not _STATUSES.isdisjoint(tokens)
        and any(token.startswith(("eni-", "tgw-attach-")) for token in tokens)
    )
    if may_be:
        return Recognition(1, "no header; `record_format` must name the fields")
    return Recognition(0)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    names: tuple[str, ...] | None = None
    problem: str | None = None
    temporality = context.temporality or "delta"
    if context.record_format is not None:
        names, problem = _stated_fields(context.record_format)
    for raw in records:
        if len(raw.data) > MAX_LINE_BYTES:
            yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE_BYTES} bytes")
            continue
        if raw.data.lstrip()[:1] == b"{":
            yield _object(raw, temporality)
            continue
        tokens = raw.data.decode("utf-8", "replace").split()
        header = _fields_of(tokens)
        if header is not None:
            names, problem = header, _unusable(header)
            if problem is not None:
                yield rejected(raw, problem)
            continue
        if problem is not None:
            yield rejected(raw, f"no_fields: the fields are not known, as {problem}")
            continue
        order = names or _default_order(tokens)
        if order is None:
            yield rejected(
                raw, "no_fields: expected a first line or a `record_format` that names the fields"
            )
            continue
        yield _record(raw, order, tokens, temporality)


def _stated_fields(record_format: str) -> tuple[tuple[str, ...] | None, str | None]:
    """The fields that a setting names, and what is wrong with it."""
    names = _fields_of(re.sub(r"[${},]", " ", record_format).split())
    if names is None:
        return None, "record_format: expected names of fields"
    return names, _unusable(names)


def _expected_form(stated: str) -> str | None:
    _, problem = _stated_fields(stated)
    return None if problem is None else problem.rpartition("expected ")[2]


def _record(raw: RawRecord, order: tuple[str, ...], tokens: list[str], temporality: str) -> Parsed:
    if len(tokens) != len(order):
        return rejected(raw, f"field_count: expected {len(order)} fields, got {len(tokens)}")
    values = dict(zip(order, tokens, strict=True))
    try:
        rows = _rows(values, identity(" ".join(order), " ".join(tokens)), temporality)
    except RefusedError as error:
        return refused(raw, error)
    return accepted(raw, *rows) if rows else ignored(raw, "no_data")


def _object(raw: RawRecord, temporality: str) -> Parsed:
    """Read a row of a table; it is identified by its known fields, in whichever order."""
    try:
        values = _values_of(decode(_OBJECT, raw.data, "$"))
        named = sorted(name for name in values if name in _KNOWN)
        record_id = identity(" ".join(named), " ".join(values[name] for name in named))
        rows = _rows(values, record_id, temporality)
    except (RecordError, RefusedError) as error:
        return rejected_masked(raw, error, SHOWN_KEYS)
    return accepted(raw, *rows) if rows else ignored(raw, "no_data")


def _field_name(key: str) -> str:
    return key.lower().replace("_", "-")


def _values_of(row: dict[str, Any]) -> dict[str, str]:
    """The values of a row as a line would write them, by field.

    Raises:
        RefusedError: It names no such fields, one twice, or holds what no line could.
    """
    values: dict[str, str] = {}
    for key, value in row.items():
        name = _field_name(key)
        if name not in _KNOWN:
            continue
        if name in values:
            refuse("field_twice", "each field once")
        if value is None or value == "":
            text = "-"
        elif isinstance(value, str):
            text = value
        elif isinstance(value, bool) or not isinstance(value, int):
            refuse(name, "a text, a whole number or null", value)
        else:
            # What needs more digits than a number can have is refused with the field.
            text = str(value) if value.bit_length() <= 80 else "too large"
        values[name] = text
    if len(values) < 2:
        refuse("no_fields", "an object of fields of a flow log")
    return values


def _rows(values: Mapping[str, str], record_id: str, temporality: str) -> list[Row]:
    """Give the rows of a record: volume, loss or, of an interval without traffic, none.

    A record of skipped data may hold what was not skipped.

    Raises:
        RefusedError: A field does not hold what its name says.
    """
    status = values.get("log-status", "OK")
    if status not in _STATUSES:
        refuse("log_status", "OK, NODATA or SKIPDATA", status)
    if status == "NODATA":
        return []
    start_at, end_at = _interval(values)
    observed = _observed(values)
    rows: list[Row] = []
    if status == "SKIPDATA":
        rows.append((f.LOSSES, _loss(observed, start_at, end_at, record_id)))
    if status == "OK" or values.get("bytes", "-") != "-":
        volume = _volume(values, start_at, end_at, record_id, temporality)
        rows.append((f.TABLE, volume | observed))
    return rows


def _observed(values: Mapping[str, str]) -> dict[str, str | None]:
    """What observed: an interface, an attachment of a transit gateway, or a NAT gateway."""
    if "tgw-attachment-id" in values or "tgw-id" in values:
        attachment = _shaped(values, "tgw-attachment-id", _ID) or _shaped(values, "tgw-id", _ID)
        return {
            "interface_id": attachment,
            "reporter": TRANSIT_GATEWAY,
            # It has no addresses of its own to show in place of the packet's.
            "source_packet_address": _address(values, "srcaddr"),
            "destination_packet_address": _address(values, "dstaddr"),
        }
    interface = _shaped(values, "interface-id", _ID)
    resource = _shaped(values, "resource-id", _ID)
    reporter = _GATEWAYS.get(values.get("interface-type", "-"))
    if interface is None and resource is not None and resource.startswith("nat-"):
        reporter = NAT_GATEWAY
    return {"interface_id": interface or resource, "reporter": reporter}


def _loss(
    observed: Mapping[str, str | None], start_at: datetime, end_at: datetime, record_id: str
) -> dict[str, Any]:
    interface = observed["interface_id"]
    return {
        "record_id": record_id,
        "source": f.TABLE,
        "node": None,
        "event_at": start_at,
        "start_at": start_at,
        "end_at": end_at,
        # One skipped record may stand for several flows, so no count is known.
        "lost_count": None,
        "kind": "skipped",
        "reason": f"SKIPDATA {interface}" if interface else "SKIPDATA",
    }


def _volume(
    values: Mapping[str, str],
    start_at: datetime,
    end_at: datetime,
    record_id: str,
    temporality: str,
) -> dict[str, Any]:
    transport = f.transport(_stated(values, "protocol"), "protocol")
    octets = _number(values, "bytes")
    if octets is None:
        refuse("bytes", "a number of bytes", None)
    return {
        "record_id": record_id,
        "start_at": start_at,
        "end_at": end_at,
        "account_id": _shaped(values, "account-id", _ACCOUNT),
        "instance_id": _shaped(values, "instance-id", _ID),
        "vpc_id": _shaped(values, "vpc-id", _ID),
        "subnet_id": _shaped(values, "subnet-id", _ID),
        "zone_id": _shaped(values, "az-id", _ID),
        "region": _shaped(values, "region", _ID),
        "source_address": _address(values, "srcaddr"),
        "source_port": f.port_of(transport, _stated(values, "srcport"), "srcport"),
        "source_packet_address": _address(values, "pkt-srcaddr"),
        "source_service": _service(values, "pkt-src-aws-service"),
        "destination_address": _address(values, "dstaddr"),
        "destination_port": f.port_of(transport, _stated(values, "dstport"), "dstport"),
        "destination_packet_address": _address(values, "pkt-dstaddr"),
        "destination_service": _service(values, "pkt-dst-aws-service"),
        "transport": transport,
        "action": _shaped(values, "action", _ACTION),
        "reject_reason": _shaped(values, "reject-reason", _WORD),
        "bytes": octets,
        "packets": _number(values, "packets"),
        "tcp_flags": _number(values, "tcp-flags"),
        "flow_direction": _shaped(values, "flow-direction", _DIRECTION),
        "traffic_path": _shaped(values, "traffic-path", _PATH),
        "sampling_interval": None,
        "scaled": "raw",
        "temporality": temporality,
        "byte_layer": "packet",
        **({} if _RARE.isdisjoint(values) else _more(values)),
    }


def _more(values: Mapping[str, str]) -> dict[str, Any]:
    """Columns of fields that few flow logs have."""
    there = [name for name, text in values.items() if name in _RARE and text != "-"]
    row: dict[str, Any] = {}
    for name in there:
        if name in _MORE:
            column, read = _MORE[name]
            row[column] = read(values, name)
    if len(there) == len(row):
        return row
    # A name is asked for more often than the ARN that ends with it; either tells it.
    for name, column in _ARNS.items():
        if name in there and row.get(column) is None:
            row[column] = name_text(values[name].rpartition("/")[2])
    containers = [_named(values, name) for name in _CONTAINERS if name in there]
    if containers:
        row["ecs_container_ids"] = containers
    sublocation = [values[name] for name in _SUBLOCATION if name in there]
    if sublocation:
        row["sublocation"] = name_text("/".join(sublocation))
    lost = [_number(values, name) or 0 for name in _LOST if name in there]
    if lost:
        row["undelivered_packets"] = min(sum(lost), INT64_MAX)
    return row


def _interval(values: Mapping[str, str]) -> tuple[datetime, datetime]:
    if "-" in {values.get("start", "-"), values.get("end", "-")}:
        refuse("no_time", "start and end in seconds since 1970", None)
    start, end = _second(values["start"]), _second(values["end"])
    if start is None or end is None:
        refuse("interval", "start and end in seconds since 1970")
    if start > end or end - start > MAX_INTERVAL:
        refuse("interval", "an end up to an hour behind the start")
    least = later(start, timedelta(seconds=1))
    if least is None:
        refuse("interval", "an end up to the year 9999")
    return start, max(end, least)


@lru_cache(maxsize=4096)
def _second_of(text: str) -> datetime | None:
    seconds = integer(text, minimum=1)
    return None if seconds is None else instant_of_microseconds(seconds * 1_000_000)


def _second(text: str) -> datetime | None:
    return _second_of(text) if len(text) <= 20 else None


def _stated(values: Mapping[str, str], name: str) -> str | None:
    text = values.get(name, "-")
    return None if text == "-" else text


def _number(values: Mapping[str, str], name: str) -> int | None:
    return f.octets(_stated(values, name), name)


def _address(values: Mapping[str, str], name: str) -> str | None:
    text = _stated(values, name)
    if text is None:
        return None
    address = canonical_address(text) if len(text) <= 64 else None
    if address is None:
        refuse(name, "an IP address or `-`", text)
    return address


def _shaped(values: Mapping[str, str], name: str, shape: re.Pattern[str]) -> str | None:
    text = _stated(values, name)
    if text is None:
        return None
    if shape.fullmatch(text) is None:
        refuse(name, f"`{shape.pattern}` or `-`", text)
    return text


def _service(values: Mapping[str, str], name: str) -> str | None:
    service = _shaped(values, name, _SERVICE)
    return redact_name(service) if service else None


def _named(values: Mapping[str, str], name: str) -> str | None:
    return name_text(values[name])


def _id_of(values: Mapping[str, str], name: str) -> str | None:
    return _shaped(values, name, _ID)


def _kind_of_traffic(values: Mapping[str, str], name: str) -> str | None:
    return _shaped(values, name, _TRAFFIC)


def _encryption(values: Mapping[str, str], name: str) -> str | None:
    return _ENCRYPTIONS.get(values[name]) or _shaped(values, name, _WORD_OR_NUMBER)


_MORE: dict[str, tuple[str, Callable[[Mapping[str, str], str], str | None]]] = {
    "type": ("traffic_type", _kind_of_traffic),
    "tgw-src-vpc-id": ("source_vpc_id", _id_of),
    "tgw-dst-vpc-id": ("destination_vpc_id", _id_of),
    "tgw-src-az-id": ("source_zone", _id_of),
    "tgw-dst-az-id": ("destination_zone", _id_of),
    "ecs-cluster-name": ("ecs_cluster_name", _named),
    "ecs-service-name": ("ecs_service_name", _named),
    "ecs-task-id": ("ecs_task_id", _named),
    "encryption-status": ("encryption", _encryption),
    "interface-type": ("interface_type", _named),
    "next-hop-interface-id": ("next_hop_interface_id", _id_of),
    "next-hop-interface-type": ("next_hop_interface_type", _named),
    "next-hop-vpc-id": ("next_hop_vpc_id", _id_of),
    "next-hop-subnet-id": ("next_hop_subnet_id", _id_of),
    "next-hop-az-id": ("next_hop_zone_id", _id_of),
}
"""Field → column and how it is read, of fields that few flow logs have."""
_RARE = frozenset({*_MORE, *_ARNS, *_CONTAINERS, *_SUBLOCATION, *_LOST})

PARSER = Parser(
    name="aws_vpc_flow_log",
    title="AWS VPC or transit gateway flow log",
    tables=(f.TABLE, f.LOSSES),
    shape="lines",
    record=(
        "One line or row, which is one flow at one interface over one interval; the header is none."
    ),
    cannot_tell="Pods (only addresses), names, traffic between pods of one node, the byte layer.",
    recognise=_recognise,
    parse=_parse,
    needs_record_format=True,
    expected_form=_expected_form,
    tested_on="real",
)
