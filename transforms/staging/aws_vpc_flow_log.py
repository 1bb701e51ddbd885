"""AWS VPC flow logs, text: one line per flow and aggregation interval, fields parted by blanks.

Source: the VPC user guide's pages on flow log records. Files in S3 begin with a line that names the
fields in the order that the flow log was given; files from elsewhere have no such line, so the
order comes from the `record_format` setting, or is the default of version 2. The line of names is
no record. `version` says little (it is wrong in public lines), the names say everything.

Times are whole seconds of the first and last packet. `end` is taken as the exclusive end, which
moves bytes by less than a second; where both are one second, the interval is that second.

Bytes are as observed, of this interval only, and each interface reports on its own: one packet is
in the records of every interface that it passes. AWS does not say at which layer it counts; the
records speak of IP packets, so `packet` is taken.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from transforms.redaction import redact_name
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
from transforms.staging.values import (
    canonical_address,
    identity,
    instant_of_microseconds,
    integer,
)

MAX_LINE_BYTES = 64 << 10
"""A record of every field of every version takes some 2 KiB."""
MAX_INTERVAL = timedelta(hours=1)
"""AWS aggregates over 10 minutes at most; a much longer record is damaged."""

_DEFAULT = (
    "version", "account-id", "interface-id", "srcaddr", "dstaddr", "srcport", "dstport",
    "protocol", "packets", "bytes", "start", "end", "action", "log-status",
)  # fmt: skip
_KNOWN = frozenset(_DEFAULT) | frozenset(
    {
        "vpc-id", "subnet-id", "instance-id", "tcp-flags", "type", "pkt-srcaddr", "pkt-dstaddr",
        "region", "az-id", "sublocation-type", "sublocation-id",
        "pkt-src-aws-service", "pkt-dst-aws-service", "flow-direction", "traffic-path",
        "ecs-cluster-arn", "ecs-cluster-name", "ecs-container-instance-arn",
        "ecs-container-instance-id", "ecs-container-id", "ecs-second-container-id",
        "ecs-service-name", "ecs-task-definition-arn", "ecs-task-arn", "ecs-task-id",
        "reject-reason", "resource-id", "encryption-status",
        "instance-tag", "interface-tag", "asg-tag", "interface-type", "next-hop-interface-id",
        "next-hop-subnet-id", "next-hop-vpc-id", "next-hop-az-id", "next-hop-interface-type",
    }
)  # fmt: skip
"""Fields of versions 2 to 11; a header may name newer ones, which are passed over."""
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_STATUSES = frozenset({"OK", "NODATA", "SKIPDATA"})

_ID = re.compile(r"[a-z0-9-]{1,64}")
_ACCOUNT = re.compile(r"[0-9]{1,20}|unknown")
_SERVICE = re.compile(r"[A-Z0-9_]{1,40}")
_WORD = re.compile(r"[A-Za-z_]{1,40}")
_PATH = re.compile(r"[0-9]{1,3}")
_DIRECTION = re.compile(r"ingress|egress")
_ACTION = re.compile(r"ACCEPT|REJECT")

_TRANSPORTS = {
    "1": "ICMP", "6": "TCP", "17": "UDP", "47": "GRE", "50": "ESP", "58": "ICMPv6", "132": "SCTP",
}  # fmt: skip
"""Names of IANA protocol numbers; others stay numbers."""
_WITH_PORTS = frozenset({"6", "17", "33", "132", "136"})
"""Protocols with ports; for others AWS writes port 0."""


def _fields_of(tokens: list[str]) -> tuple[str, ...] | None:
    """Give the fields that a line names; none where the line is no header."""
    names = tuple(token.lower().replace("_", "-") for token in tokens)
    known = sum(name in _KNOWN for name in names)
    if known < 2 or known * 2 < len(names) or not all(map(_NAME.fullmatch, names)):
        return None
    return names


def _unusable(names: tuple[str, ...]) -> str | None:
    """Why records cannot be read by these fields, if they cannot."""
    if any(name.startswith("tgw-") for name in names):
        return "other_format: expected VPC flow log fields, got those of a transit gateway"
    if len(set(names)) < len(names):
        return "header: expected each field once"
    return None


def _is_default(tokens: list[str]) -> bool:
    return (
        len(tokens) == len(_DEFAULT)
        and tokens[0] == "2"
        and tokens[2].startswith("eni-")
        and tokens[-1] in _STATUSES
    )


def _recognise(head: bytes) -> Recognition:
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    tokens = first[:MAX_LINE_BYTES].decode("utf-8", "replace").split()
    names = _fields_of(tokens)
    if names is not None:
        usable = _unusable(names) is None
        return Recognition(3, f"header of {len(names)} fields") if usable else Recognition(0)
    if _is_default(tokens):
        return Recognition(2, "no header, default fields of version 2")
    may_be = (
        len(tokens) >= 8
        and not _STATUSES.isdisjoint(tokens)
        and any(token.startswith("eni-") for token in tokens)
        and not any(token.startswith("tgw-") for token in tokens)
    )
    if may_be:
        return Recognition(1, "no header; `record_format` must name the fields")
    return Recognition(0)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    names: tuple[str, ...] | None = None
    problem: str | None = None
    if context.record_format is not None:
        names = _fields_of(re.sub(r"[${},]", " ", context.record_format).split())
        problem = "record_format: expected names of fields" if names is None else _unusable(names)
    for raw in records:
        if len(raw.data) > MAX_LINE_BYTES:
            yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE_BYTES} bytes")
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
        order = names or (_DEFAULT if _is_default(tokens) else None)
        if order is None:
            yield rejected(
                raw, "no_fields: expected a first line or a `record_format` that names the fields"
            )
            continue
        yield _record(raw, order, tokens)


def _record(raw: RawRecord, order: tuple[str, ...], tokens: list[str]) -> Parsed:
    if len(tokens) != len(order):
        return rejected(raw, f"field_count: expected {len(order)} fields, got {len(tokens)}")
    values = dict(zip(order, tokens, strict=True))
    try:
        rows = _rows(values, identity(" ".join(order), " ".join(tokens)))
    except RefusedError as error:
        return refused(raw, error)
    return accepted(raw, *rows) if rows else ignored(raw, "no_data")


def _rows(values: dict[str, str], record_id: str) -> list[Row]:
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
    rows: list[Row] = []
    if status == "SKIPDATA":
        rows.append(("loss_reports", _loss(values, start_at, end_at, record_id)))
    if status == "OK" or values.get("bytes", "-") != "-":
        rows.append(("volume_records", _volume(values, start_at, end_at, record_id)))
    return rows


def _loss(
    values: dict[str, str], start_at: datetime, end_at: datetime, record_id: str
) -> dict[str, Any]:
    interface = _shaped(values, "interface-id", _ID) or _shaped(values, "resource-id", _ID)
    return {
        "record_id": record_id,
        "source": "volume_records",
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
    values: dict[str, str], start_at: datetime, end_at: datetime, record_id: str
) -> dict[str, Any]:
    protocol = values.get("protocol", "-")
    if protocol != "-" and integer(protocol, maximum=255) is None:
        refuse("protocol", "a number up to 255 or `-`", protocol)
    octets = _number(values, "bytes")
    if octets is None:
        refuse("bytes", "a number of bytes", None)
    return {
        "record_id": record_id,
        "start_at": start_at,
        "end_at": end_at,
        "account_id": _shaped(values, "account-id", _ACCOUNT),
        "interface_id": _shaped(values, "interface-id", _ID),
        "instance_id": _shaped(values, "instance-id", _ID),
        "vpc_id": _shaped(values, "vpc-id", _ID),
        "subnet_id": _shaped(values, "subnet-id", _ID),
        "zone_id": _shaped(values, "az-id", _ID),
        "region": _shaped(values, "region", _ID),
        "source_address": _address(values, "srcaddr"),
        "source_port": _port(values, "srcport", protocol),
        "source_packet_address": _address(values, "pkt-srcaddr"),
        "source_service": _service(values, "pkt-src-aws-service"),
        "destination_address": _address(values, "dstaddr"),
        "destination_port": _port(values, "dstport", protocol),
        "destination_packet_address": _address(values, "pkt-dstaddr"),
        "destination_service": _service(values, "pkt-dst-aws-service"),
        "transport": None if protocol == "-" else _TRANSPORTS.get(protocol, protocol),
        "action": _shaped(values, "action", _ACTION),
        "reject_reason": _shaped(values, "reject-reason", _WORD),
        "bytes": octets,
        "packets": _number(values, "packets"),
        "tcp_flags": _number(values, "tcp-flags"),
        "flow_direction": _shaped(values, "flow-direction", _DIRECTION),
        "traffic_path": _shaped(values, "traffic-path", _PATH),
        "sampling_interval": None,
        "scaled": "raw",
        "reporter": None,
        "temporality": "delta",
        "byte_layer": "packet",
    }


def _interval(values: dict[str, str]) -> tuple[datetime, datetime]:
    if "-" in {values.get("start", "-"), values.get("end", "-")}:
        refuse("no_time", "start and end in seconds since 1970", None)
    start, end = _second(values["start"]), _second(values["end"])
    if start is None or end is None:
        refuse("interval", "start and end in seconds since 1970")
    if start > end or end - start > MAX_INTERVAL:
        refuse("interval", "an end up to an hour behind the start")
    return start, max(end, start + timedelta(seconds=1))


@lru_cache(maxsize=4096)
def _second_of(text: str) -> datetime | None:
    seconds = integer(text, minimum=1)
    return None if seconds is None else instant_of_microseconds(seconds * 1_000_000)


def _second(text: str) -> datetime | None:
    return _second_of(text) if len(text) <= 20 else None


def _number(values: dict[str, str], name: str) -> int | None:
    text = values.get(name, "-")
    if text == "-":
        return None
    number = integer(text)
    if number is None:
        refuse(name, "a whole number or `-`", text)
    return number


def _port(values: dict[str, str], name: str, protocol: str) -> int | None:
    port = _number(values, name)
    if port is None:
        return None
    if port > 65_535:
        refuse(name, "a port up to 65535", values[name])
    return None if port == 0 and protocol not in _WITH_PORTS else port


def _address(values: dict[str, str], name: str) -> str | None:
    text = values.get(name, "-")
    if text == "-":
        return None
    address = canonical_address(text) if len(text) <= 64 else None
    if address is None:
        refuse(name, "an IP address or `-`", text)
    return address


def _shaped(values: dict[str, str], name: str, shape: re.Pattern[str]) -> str | None:
    text = values.get(name, "-")
    if text == "-":
        return None
    if shape.fullmatch(text) is None:
        refuse(name, f"`{shape.pattern}` or `-`", text)
    return text


def _service(values: dict[str, str], name: str) -> str | None:
    service = _shaped(values, name, _SERVICE)
    return redact_name(service) if service else None


PARSER = Parser(
    name="aws_vpc_flow_log",
    title="AWS VPC flow log",
    tables=("volume_records", "loss_reports"),
    shape="lines",
    record="One line, which is one flow at one interface over one interval; the header is none.",
    cannot_tell="Pods (only addresses), names, traffic between pods of one node, the byte layer.",
    recognise=_recognise,
    parse=_parse,
    needs_record_format=True,
    tested_on="real",
)
