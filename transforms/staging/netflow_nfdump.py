"""Records of nfdump: JSON of its flows, and CSV under a line of names.

Source: phaag/nfdump, src/output (output_ndjson.c, output_json.c, output_csv_fast.c), README.

* nfdump keeps octetTotalCount (85) in the same place as octetDeltaCount, so nothing in a record
  tells totals of a connection from differences. The format declares `delta`; an export whose
  exporters send only totals needs `temporality: cumulative`.
* Bytes are multiplied by the sampling rate when they are received, if it was known: `sampled` 1 is
  `scaled`, 0 is `raw`. CSV does not state it (`unknown`).
* Times are local, without a zone. The export's `record_format` states it: `TZ=UTC`, or an offset
  such as `TZ=+01:00`. CSV of the newer form counts milliseconds since 1970 and needs none.
* A release wrote the number of packets as `in_bytes`. No packet is smaller than its IP header, so
  a record with fewer than 20 bytes a packet is refused.
* Bytes of the other direction (`out_bytes`) may be those behind a middlebox, and are not read.
* Events of address translation are no flows, and are ignored as `event`.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from transforms.staging import lookup_fields as f
from transforms.staging import volume_fields as v
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

MARKS = frozenset({"in_bytes", "in_packets", "export_sysid", "first", "last", "t_first", "t_last"})
SHOWN_KEYS = frozenset(
    {
        b"type", b"first", b"last", b"t_first", b"t_last", b"received", b"tcp_flags", b"src4_addr",
        b"dst4_addr", b"src6_addr", b"dst6_addr", b"ip4_router", b"ip6_router",
    }
)  # fmt: skip
MAX_LENGTH = timedelta(days=366)
HEADERS = (frozenset({"firstSeen", "lastSeen", "srcAddr", "dstAddr", "packets", "bytes"}),
           frozenset({"ts", "te", "sa", "da", "ipkt", "ibyt"}))  # fmt: skip
"""Names that a line of names has at least, of the newer form and of the older."""

_LEAST_PACKET = 20
_ZONE = re.compile(r"TZ=(UTC|Z|[+-][0-9]{2}:[0-9]{2})")
_HAS_ZONE = re.compile(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})\Z")
_RENAMED = {
    "firstSeen": "first", "lastSeen": "last", "srcAddr": "src4_addr", "dstAddr": "dst4_addr",
    "srcPort": "src_port", "dstPort": "dst_port", "flags": "tcp_flags", "packets": "in_packets",
    "bytes": "in_bytes", "input": "input_snmp", "output": "output_snmp",
    "ts": "first", "te": "last", "sa": "src4_addr", "da": "dst4_addr", "sp": "src_port",
    "dp": "dst_port", "pr": "proto", "flg": "tcp_flags", "ipkt": "in_packets", "ibyt": "in_bytes",
    "in": "input_snmp", "out": "output_snmp", "ra": "ip4_router",
    "t_first": "first", "t_last": "last",
}  # fmt: skip
_UNSET = re.compile(r"[0:.]*")
"""No address, or one of zeros only."""


def expected_form(stated: str) -> str | None:
    """What is expected in the place of a `record_format`; nothing where it is right."""
    return None if _ZONE.fullmatch(stated.strip()) else "TZ=UTC, or an offset such as TZ=+01:00"


def volumes(values: Mapping[str, Any], context: FileContext) -> list[dict[str, Any]] | str:
    """The row of a record, or the word for which it is left out.

    Raises:
        RefusedError: A value is none that its field can have.
    """
    if v.text(values, "type") == "EVENT":
        return "event"
    fields = {_RENAMED.get(name, name): value for name, value in values.items()}
    octets = v.octets(fields.get("in_bytes"), "in_bytes")
    if not octets:
        return "no_bytes"
    packets = v.octets(fields.get("in_packets"), "in_packets")
    if packets and octets < _LEAST_PACKET * packets:
        refuse("in_bytes", f"at least {_LEAST_PACKET} bytes a packet", octets)
    start_at, end_at = (_instant(fields.get(name), name, context) for name in ("first", "last"))
    v.check_interval(start_at, end_at, MAX_LENGTH)
    transport = v.stated_transport(fields.get("proto"), "proto")
    return [
        {
            "start_at": start_at,
            "end_at": end_at,
            "flow_id": _flow_id(fields),
            **_end(fields, "source", "src", has_ports=v.has_ports(transport)),
            **_end(fields, "destination", "dst", has_ports=v.has_ports(transport)),
            "transport": transport,
            "bytes": octets,
            "packets": packets,
            "tcp_flags": v.flags(fields.get("tcp_flags"), "tcp_flags"),
            "interfaces": v.interface_numbers(fields, "input_snmp", "output_snmp"),
            "sampling_interval": None,
            "scaled": _scaled(fields),
            "reporter": _reporter(fields),
            "temporality": context.temporality or "delta",
            "byte_layer": "packet",
        }
    ]


def _end(fields: Mapping[str, Any], name: str, prefix: str, *, has_ports: bool) -> dict[str, Any]:
    address = _address(fields, f"{prefix}4_addr", f"{prefix}6_addr")
    behind = _address(fields, f"{prefix}4_xlt_ip", f"{prefix}6_xlt_ip")
    port = v.port(fields.get(f"{prefix}_port"), f"{prefix}_port")
    behind_port = v.port(fields.get(f"{prefix}_xlt_port"), f"{prefix}_xlt_port")
    return {
        f"{name}_address": address,
        f"{name}_port": port if has_ports else None,
        f"{name}_xlated_address": None if behind == address else behind,
        f"{name}_xlated_port": behind_port if has_ports and behind_port not in {0, port} else None,
    }


def _address(fields: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        text = (v.text(fields, name) or "").strip()
        if not _UNSET.fullmatch(text):
            return f.address(text, name)
    return None


def _scaled(fields: Mapping[str, Any]) -> str:
    sampled = v.whole(fields.get("sampled"), 1, "sampled")
    return "unknown" if sampled is None else ("raw", "scaled")[sampled]


def _reporter(fields: Mapping[str, Any]) -> str | None:
    router = _address(fields, "ip4_router", "ip6_router")
    if router is not None:
        return router
    exporter = v.octets(fields.get("export_sysid"), "export_sysid")
    return None if exporter is None else f"exporter {exporter}"


def _flow_id(fields: Mapping[str, Any]) -> str | None:
    number = v.octets(fields.get("flowID"), "flowID")
    return None if number is None else str(number)


def _instant(stated: object, name: str, context: FileContext) -> datetime:
    if isinstance(stated, int) or (isinstance(stated, str) and stated.isdigit()):
        return v.instant(stated, 1_000, name)
    text = stated if isinstance(stated, str) else ""
    if not _HAS_ZONE.search(text[10:]):
        zone = _ZONE.fullmatch((context.record_format or "").strip())
        if zone is None:
            refuse("no_zone", "the zone of nfdump's times in `record_format`, such as TZ=UTC", text)
        text += "Z" if zone[1] == "UTC" else zone[1]
    at = parse_instant(text)
    if at is None:
        refuse("no_time", f"a time in {name}", stated)
    return at
