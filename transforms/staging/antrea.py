"""Antrea's flow aggregator: CSV of its S3 uploader, without a header, and of its flow logger.

Source: antrea-io/antrea, pkg/flowaggregator (s3uploader's `writeRecord`, flowlogger, intermediate),
pkg/agent/flowexporter, docs/network-flow-visibility.md.

* A line is one report on one connection, both ways: after nine fields of times and ends and the
  protocol stand packets and octets, in total and since the last report, and the same of the reverse
  direction. It becomes four rows: per direction the total (`cumulative`) and the difference
  (`delta`). They are the same bytes in two ways and are never added to each other. The export's
  `temporality` setting keeps only the one; no value decides it.
* The aggregator joins the reports of both nodes to one line, so `reporter` is it alone.
* When the last report was is not stated. A difference that equals the total began with the
  connection; any other within the last 90 s (the aggregator reports every 60 s, an exporter within
  5 to 15 s), or with the connection, if that was later. Where a node forgot its count, Antrea
  states a difference of 0 and the total begins anew.
* Bytes are conntrack's: IP packets with their headers.
* Pods' labels stand in single quotes and hold commas; texts of HTTP in the last columns hold commas
  without quotes. Newer releases state two addresses of a service, and columns on egress and HTTP.
  Neither labels nor HTTP is kept.
* A connection that a policy dropped or rejected has the bytes that its packets had all the same.
* Lines of the flow logger have no bytes and are ignored as `no_bytes`.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import volume_fields as v
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.stored_text import name_text
from transforms.staging.values import identity

MAX_LINE_BYTES = 256 << 10
"""A pod's labels may take tens of KiB."""
MAX_LIFE = timedelta(days=366)
REPORT_INTERVAL = timedelta(seconds=90)
"""No two reports on a connection that carries bytes are further apart by default."""

_LABELS = re.compile(r"(.*?)','(.*?)',(.*)", re.DOTALL)
_BEFORE_SERVICE = 24
_BEHIND_SERVICE = 14
"""Fields behind the addresses of a service, up to the labels."""
_BEHIND_LABELS = 8
_REPORTER = "aggregator"
_SECOND = 1_000_000
_UNSPECIFIED = re.compile(r"[0:.]*")
"""No address, or one of zeros only."""
_ACTIONS = {"0": None, "1": "ACCEPT", "2": "REJECT", "3": "REJECT"}
_COUNTS = {"delta": (12, 16), "cumulative": (10, 14)}
"""Where packets stand, octets behind them, there and back."""
_TIME = re.compile(r"[0-9]{9,11}")
_NUMBER = re.compile(r"[0-9]{1,20}")


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    for raw in records:
        if len(raw.data) > MAX_LINE_BYTES:
            yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE_BYTES} bytes")
            continue
        text = raw.data.decode("utf-8", "replace")
        if _is_log_line(text):
            yield ignored(raw, "no_bytes")
            continue
        try:
            rows = _rows(text, context)
        except RefusedError as error:
            yield refused(raw, error)
            continue
        yield accepted(raw, *((v.TABLE, row) for row in rows))


def _is_log_line(text: str) -> bool:
    """Whether a line is the flow logger's: ends directly behind the two times."""
    fields = text.split(",", 7)
    return (
        len(fields) == 8
        and all(_TIME.fullmatch(field) for field in fields[:2])
        and all(_is_address(field) for field in fields[2:4])
        and all(_NUMBER.fullmatch(field) for field in fields[4:6])
    )


def _is_address(text: str) -> bool:
    return f.address_if_any(text) is not None


# -- rows ----------------------------------------------------------------------------------------


def _cut(text: str) -> tuple[list[str], list[str]]:
    """Fields in front of the labels, and behind them.

    Raises:
        RefusedError: The line has not the form of any release.
    """
    front, quote, rest = text.partition(",'")
    labels = _LABELS.fullmatch(rest) if quote else None
    if labels is None:
        refuse("field_count", "two fields of labels in single quotes")
    head, tail = front.split(","), labels[3].split(",")
    service_count = len(head) - _BEFORE_SERVICE - _BEHIND_SERVICE
    if service_count not in {1, 2}:
        refuse("field_count", "39 or 40 fields before the labels", len(head))
    if len(tail) < _BEHIND_LABELS:
        refuse("field_count", f"{_BEHIND_LABELS} fields or more behind the labels", len(tail))
    return head, tail


def _rows(text: str, context: FileContext) -> list[dict[str, Any]]:
    """The rows of a line.

    Raises:
        RefusedError: A field does not hold what it should.
    """
    head, tail = _cut(text)
    started_at = v.instant(head[0], _SECOND, "flowStartSeconds")
    end_at = v.instant(head[1], _SECOND, "flowEndSeconds")
    v.check_interval(started_at, end_at, MAX_LIFE)
    transport = v.transport(head[9], "protocolIdentifier")
    common = {
        "record_id": identity(text),
        "end_at": end_at,
        "transport": transport,
        "connection_state": name_text(head[-2]),
        **_verdict(head[-12:-2]),
        "sampling_interval": None,
        "scaled": "raw",
        "reporter": _REPORTER,
        "byte_layer": "packet",
    }
    there, back = _ends(head, tail, transport)
    rows = []
    for temporality in _temporalities(context):
        column = "delta" if temporality == "delta" else "cumulative"
        for packets_at, ends in zip(_COUNTS[column], (there, back), strict=True):
            packets = v.octets(head[packets_at], "packets")
            octets = _octets(head[packets_at + 1])
            starts_at = started_at
            if column == "delta" and octets != _octets(head[packets_at - 1]):
                starts_at = _last_report(started_at, end_at)
            counted = {"start_at": starts_at, "bytes": octets, "packets": packets}
            rows.append(common | ends | counted | {"temporality": temporality})
    return rows


def _temporalities(context: FileContext) -> tuple[str, ...]:
    return (context.temporality,) if context.temporality else ("delta", "cumulative")


def _last_report(started_at: datetime, end_at: datetime) -> datetime:
    """The earliest instant since which a difference counts."""
    return max(started_at, end_at - min(REPORT_INTERVAL, end_at - started_at))


def _octets(text: str) -> int:
    number = v.octets(text, "octets")
    if number is None:
        refuse("octets", "a number of bytes", None)
    return number


def _ends(
    head: list[str], tail: list[str], transport: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of both ends, there and back."""
    source = {
        "address": f.address(head[5], "sourceIP"),
        "port": v.port(head[7], "sourceTransportPort"),
        "pod_name": name_text(head[18]),
        "namespace": name_text(head[19]),
        "node": name_text(head[20]),
    }
    destination = {
        "address": f.address(head[6], "destinationIP"),
        "port": v.port(head[8], "destinationTransportPort"),
        "pod_name": name_text(head[21]),
        "namespace": name_text(head[22]),
        "node": name_text(head[23]),
    }
    if not v.has_ports(transport):
        source["port"] = destination["port"] = None
    service_port_at = len(head) - _BEHIND_SERVICE
    services = [
        f.address(text, "destinationClusterIP")
        for text in head[_BEFORE_SERVICE:service_port_at]
        if not _UNSPECIFIED.fullmatch(text)
    ]
    asked = {
        "destination_original_address": services[-1] if services else None,
        "destination_original_port": (
            v.port(head[service_port_at], "destinationServicePort") or None if services else None
        ),
        "source_xlated_address": _egress_address(tail),
    }
    return (
        v.columns_of("source", source) | v.columns_of("destination", destination) | asked,
        v.columns_of("source", destination) | v.columns_of("destination", source),
    )


def _egress_address(tail: list[str]) -> str | None:
    """Address that an Egress gives to packets that leave; older releases do not state it."""
    text = tail[_BEHIND_LABELS + 1] if len(tail) > _BEHIND_LABELS + 1 else ""
    return None if _UNSPECIFIED.fullmatch(text) else f.address(text, "egressIP")


def _verdict(fields: list[str]) -> dict[str, Any]:
    """Action of the policies and the policy that denied; one at the source did so first.

    Args:
        fields: Name, namespace, rule, action and type of the ingress policy, then of the egress.

    Raises:
        RefusedError: An action is none of Antrea's numbers.
    """
    action = reason = None
    for name, namespace, _, number, _ in (fields[:5], fields[5:]):
        if number not in _ACTIONS:
            refuse("policy_action", "0 to 3", number)
        found = _ACTIONS[number]
        if found == "REJECT":
            action, reason = found, name_text(f"{namespace}/{name}" if namespace else name)
        action = action or found
    return {"action": action, "reject_reason": reason}


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    text = first.decode("utf-8", "replace")
    if _is_log_line(text):
        return Recognition(2, "lines of the flow logger, without bytes")
    fields = text.split(",", _BEFORE_SERVICE)
    is_record = (
        len(fields) > _BEFORE_SERVICE
        and all(_TIME.fullmatch(field) for field in fields[:2])
        and all(_is_address(field) for field in fields[5:7])
        and all(_NUMBER.fullmatch(field) for field in fields[7:18])
    )
    return Recognition(2, "records of the S3 uploader") if is_record else Recognition(0)


PARSER = Parser(
    name="antrea",
    title="Antrea flow aggregator, CSV",
    tables=(v.TABLE,),
    shape="lines",
    record="one line: one report on one connection, both ways, in total and since the last one",
    cannot_tell=(
        "when the last report was; pods' UIDs; names; what each node counted; bytes in the lines "
        "of the flow logger; traffic of host processes"
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
)
