r"""Zeek conn.log: one record per connection that the sensor saw, as text or JSON lines.

Source: zeek/zeek, scripts/base/protocols/conn/main.zeek and the ASCII and JSON writers; logs of
Zeek's own tests.

* A record tells the whole connection at its end (`per_connection_total`): Zeek writes it when it
  forgets the connection, at the latest when it stops. It becomes two rows, one per direction;
  the originator is the source of the first.
* `orig_ip_bytes` counts IP packets with their headers (`packet`) and is taken where it is stated;
  `orig_bytes` then stands in `payload_bytes`. Where only that is stated (the analyzer of sizes is
  off), it is the number itself (`payload`). It comes from TCP's sequence numbers and may be wrong
  for very large connections. A direction that states neither has no row.
* `missed_bytes` is payload that the sensor knows it did not see, of both directions; the packets'
  bytes do not hold it, the payload's may. It is kept on both rows and no loss of records.
* `duration` runs from the first to the last packet, without those of the tear-down; without one
  (a single packet) the connection is an instant.
* `conn_state` and `history` are kept as they stand. `OTH`, a history without `S` or `h`, or one
  that begins with `^` (Zeek turned the direction round) tell of a beginning that was not seen.
* A tunnel's outer connection, whose `service` names it, holds the bytes of the inner ones that
  Zeek took out of it, and says so in `repeats`.
* Packages that log long connections while they last write the same fields, counted from the
  connection's beginning, to `conn_long`: ignored as `intermediate`.
* For ICMP, ports are type and code and are null.
* Text: fields in the order of `#fields`. Header lines are no records; other lines that begin with
  `#` are ignored as `comment`. JSON: times in seconds, milliseconds or RFC 3339, as configured.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging import volume_fields as v
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.refusal import refuse
from transforms.staging.stored_text import name_text
from transforms.staging.values import instant_of_microseconds
from transforms.staging.zeek_header import ZeekHeader, header_at, unescaped_text
from transforms.staging.zeek_lines import Values, ZeekLog, header_has, parse_log
from transforms.staging.zeek_values import RENAMED, interval_microseconds, microseconds

LOG = "conn"
LONG_LOG = "conn_long"
MAX_LINE = 1 << 16
"""Characters of a line; the longest field is the set of a connection's tunnels."""
MAX_DURATION = timedelta(days=366)
HEAD_LINES = 100
SHOWN_KEYS = frozenset(
    {
        b"ts", b"uid", b"id.orig_h", b"id.resp_h", b"id_orig_h", b"id_resp_h", b"proto", b"service",
        b"conn_state", b"history", b"_path",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show."""

_BOM = b"\xef\xbb\xbf"
_MARKS = frozenset(
    {
        "conn_state", "history", "missed_bytes", "orig_bytes", "resp_bytes", "orig_ip_bytes",
        "resp_ip_bytes", "orig_pkts", "resp_pkts",
    }
)  # fmt: skip
_NEEDED = ("ts", "conn_state")
_TUNNELS = frozenset({"vxlan", "geneve", "gtpv1", "teredo", "ayiya", "gre"})
_BY_NAME = {"icmp": "ICMP", "tcp": "TCP", "udp": "UDP"}
_LIMIT = 256

_Values = Mapping[str, Any]

_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    log = ZeekLog(_NEEDED, MAX_LINE, _left_out, _read_text, _read_json, SHOWN_KEYS)
    return parse_log(records, context, log)


def _left_out(header: ZeekHeader) -> str | None:
    """Why lines under a header are left out."""
    if _is_other_log(header):
        return "other_log"
    return "intermediate" if header.path == LONG_LOG else None


def _read_text(
    values: Values, header: ZeekHeader, record_id: str, context: FileContext
) -> tuple[Row, ...] | str:
    stated = {
        RENAMED.get(name, name): unescaped_text(header.text(value))
        for name, value in values.items()
        if value is not None
    }
    return _rows(stated, record_id, context)


def _is_other_log(header: ZeekHeader) -> bool:
    """Whether a header names another log; one that has the marks is this log by another name."""
    return header.path not in {LOG, None} and len(_MARKS & set(header.fields)) < len(_MARKS) - 2


def _read_json(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    values = decode(_OBJECT, item.data, item.path)
    if values.get("_path") == LONG_LOG:
        return "intermediate"
    if values.get("_path") not in {LOG, None}:
        return "other_log"
    if "_path" not in values and _MARKS.isdisjoint(values):
        refuse("no_connection", "fields of conn.log such as conn_state and orig_bytes", None)
    for name, known in RENAMED.items():
        if name in values:
            values.setdefault(known, values[name])
    return _rows(values, whole_record_id(item), context)


# -- rows ----------------------------------------------------------------------------------------


def _rows(values: _Values, record_id: str, context: FileContext) -> tuple[Row, ...] | str:
    """The rows of a record, or the word for which it is left out.

    Raises:
        RefusedError: A value is not what its field says.
    """
    start_at, end_at = _interval(values)
    transport = _transport(values)
    ends = [
        (
            f.address(_text(values, f"id.{end}_h"), f"id.{end}_h"),
            v.port(values.get(f"id.{end}_p"), f"id.{end}_p"),
        )
        for end in ("orig", "resp")
    ]
    if transport is None or not v.has_ports(transport):
        ends = [(address, None) for address, _ in ends]
    if transport == "ICMP" and ":" in (ends[0][0] or ""):
        transport = "ICMPv6"
    common = {
        "record_id": record_id,
        "start_at": start_at,
        "end_at": end_at,
        "node": context.node,
        "flow_id": name_text(_text(values, "uid")),
        "transport": transport,
        "missed_bytes": v.octets(values.get("missed_bytes"), "missed_bytes"),
        "connection_state": _short(values, "conn_state"),
        "packet_history": _short(values, "history"),
        "sampling_interval": None,
        "scaled": "raw",
        "reporter": None,
        "temporality": context.temporality or "per_connection_total",
        "repeats": "overlay" if _is_tunnel(values) else None,
    }
    rows = [
        common | counted | _ends(ends[here], ends[1 - here])
        for here, end in enumerate(("orig", "resp"))
        if (counted := _counted(values, end)) is not None
    ]
    return tuple((v.TABLE, row) for row in rows) or "no_bytes"


def _interval(values: _Values) -> tuple[datetime, datetime]:
    start = microseconds(values.get("ts"))
    start_at = None if start is None else instant_of_microseconds(start)
    if start is None or start_at is None:
        refuse("no_time", "seconds since 1970 or an RFC 3339 time in ts", values.get("ts"))
    lasted = interval_microseconds(values.get("duration"), "duration") or 0
    end_at = instant_of_microseconds(start + lasted)
    if end_at is None:
        refuse("interval", "an end before the year 10000")
    v.check_interval(start_at, end_at, MAX_DURATION)
    return start_at, end_at


def _counted(values: _Values, end: str) -> dict[str, Any] | None:
    """Numbers of what one end sent; none where none is stated."""
    packets, payload = f"{end}_ip_bytes", f"{end}_bytes"
    in_packets = v.octets(values.get(packets), packets)
    in_payload = v.octets(values.get(payload), payload)
    octets = in_payload if in_packets is None else in_packets
    if octets is None:
        return None
    return {
        "bytes": octets,
        "packets": v.octets(values.get(f"{end}_pkts"), f"{end}_pkts"),
        "payload_bytes": in_payload,
        "byte_layer": "payload" if in_packets is None else "packet",
    }


def _ends(
    source: tuple[str | None, int | None], destination: tuple[str | None, int | None]
) -> dict[str, Any]:
    return {
        "source_address": source[0],
        "source_port": source[1],
        "destination_address": destination[0],
        "destination_port": destination[1],
    }


def _transport(values: _Values) -> str | None:
    number = v.transport(values.get("ip_proto"), "ip_proto")
    return number or _BY_NAME.get((_text(values, "proto") or "").lower())


def _is_tunnel(values: _Values) -> bool:
    names = (_text(values, "service") or "").lower().split(",")
    return not _TUNNELS.isdisjoint(names)


def _short(values: _Values, name: str) -> str | None:
    text = _text(values, name)
    return name_text(text[:_LIMIT]) if text else None


def _text(values: _Values, name: str) -> str | None:
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        refuse(name, "a text", value)
    return value


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    beginning = head.removeprefix(_BOM).lstrip()
    if beginning.startswith(b"#"):
        return _recognise_text(beginning)
    return recognise_records(head, _variant)


def _variant(record: dict[str, Any]) -> str | None:
    if record.get("_path", LOG) not in {LOG, LONG_LOG} or "ts" not in record:
        return None
    has_ends = "id.orig_h" in record or "id_orig_h" in record
    return "JSON records" if has_ends and len(_MARKS & record.keys()) > 2 else None


def _recognise_text(head: bytes) -> Recognition:
    header = header_at(head, HEAD_LINES)
    if _is_other_log(header):
        return Recognition(0)
    if header_has(header, _NEEDED) and len(_MARKS & set(header.fields)) > 2:
        return Recognition(3, f"text with {len(header.fields)} fields")
    return Recognition(2, "text without its fields") if header.path else Recognition(0)


PARSER = Parser(
    name="zeek_conn",
    title="Zeek conn.log",
    tables=(v.TABLE,),
    shape="json",
    record="one line: one connection, told at its end, both ways; the header is none",
    cannot_tell=(
        "traffic that does not pass the sensor; connections that last still; pods and names (only "
        "addresses); when within a connection its bytes went; translation; the sensor as a node"
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
)
