"""Zeek conn.log: text with its header, and JSON lines."""

import json
from typing import Any

_RECORD: dict[str, Any] = {
    "ts": 1773111719.500613,
    "uid": "CHhAvVGS1DHFjwGM9",
    "id.orig_h": "192.0.2.71",
    "id.orig_p": 39_745,
    "id.resp_h": "203.0.113.7",
    "id.resp_p": 443,
    "proto": "tcp",
    "service": "ssl",
    "duration": 10.04836,
    "orig_bytes": 538,
    "resp_bytes": 2_902,
    "conn_state": "SF",
    "local_orig": True,
    "local_resp": False,
    "missed_bytes": 0,
    "history": "ShADadFf",
    "orig_pkts": 5,
    "orig_ip_bytes": 750,
    "resp_pkts": 4,
    "resp_ip_bytes": 3_070,
    "tunnel_parents": None,
    "ip_proto": 6,
}
_TYPES = [
    "time", "string", "addr", "port", "addr", "port", "enum", "string", "interval", "count",
    "count", "string", "bool", "bool", "count", "string", "count", "count", "count", "count",
    "set[string]", "count",
]  # fmt: skip
_CHANGES: list[dict[str, Any]] = [
    {},
    {"duration": None, "orig_bytes": None, "resp_bytes": None, "conn_state": "S0"},
    {"missed_bytes": 2_902, "history": "ShADadgF"},
    {"proto": "udp", "ip_proto": 17, "service": "vxlan", "id.resp_p": 4_789},
    {"proto": "icmp", "ip_proto": 1, "id.orig_p": 8, "id.resp_p": 0, "conn_state": "OTH"},
    {"id.orig_h": "2001:db8::71", "id.resp_h": "2001:db8::5", "tunnel_parents": ["CAb1"]},
    {"history": "^hADdFaf", "service": None},
]
_RECORDS = [
    _RECORD | change | {"ts": _RECORD["ts"] + n, "uid": f"CHhAvVGS1DHFjwGM{n}"}
    for n, change in enumerate(_CHANGES)
]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, list):
        return ",".join(_cell(each) for each in value) or "(empty)"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


_TEXT = [
    "#separator \\x09",
    "#set_separator\t,",
    "#empty_field\t(empty)",
    "#unset_field\t-",
    "#path\tconn",
    "#open\t2026-03-10-03-00-00",
    "\t".join(["#fields", *_RECORD]),
    "\t".join(["#types", *_TYPES]),
    *("\t".join(_cell(record[name]) for name in _RECORD) for record in _RECORDS),
    "#close\t2026-03-10-04-00-00",
]
_SET = [{k: v for k, v in record.items() if v is not None} for record in _RECORDS]

FILES: tuple[bytes, ...] = (
    "".join(f"{line}\n" for line in _TEXT).encode(),
    "".join(f"{json.dumps(record)}\n" for record in _SET).encode(),
)
