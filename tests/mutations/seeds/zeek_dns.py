"""Zeek dns.log: text with its header, and JSON lines."""

import json
from typing import Any

_RECORD: dict[str, Any] = {
    "ts": 1773111719.500613,
    "uid": "CAcJw21BbVedgFnYH3",
    "id.orig_h": "192.0.2.71",
    "id.orig_p": 39_745,
    "id.resp_h": "198.51.100.53",
    "id.resp_p": 53,
    "proto": "udp",
    "trans_id": 17_757,
    "rtt": 0.076967,
    "query": "data.example.com",
    "qclass": 1,
    "qclass_name": "C_INTERNET",
    "qtype": 1,
    "qtype_name": "A",
    "rcode": 0,
    "rcode_name": "NOERROR",
    "AA": False,
    "TC": False,
    "RD": True,
    "RA": True,
    "Z": 0,
    "answers": ["edge.example.net", "203.0.113.31"],
    "TTLs": [300.0, 60.0],
    "rejected": False,
}
_TYPES = [
    "time", "string", "addr", "port", "addr", "port", "enum", "count", "interval", "string",
    "count", "string", "count", "string", "count", "string", "bool", "bool", "bool", "bool",
    "count", "vector[string]", "vector[interval]", "bool",
]  # fmt: skip
_UNSET = {"rtt": None, "answers": None, "TTLs": None}
_CHANGES: list[dict[str, Any]] = [
    {},
    {"qtype": 28, "qtype_name": "AAAA", "answers": ["2001:db8::5"], "TTLs": [7.0]},
    {
        "query": "pypi.example.org.ml.svc.cluster.local",
        "rcode": 3,
        "rcode_name": "NXDOMAIN",
        **_UNSET,
    },
    {"rcode": None, "rcode_name": None, **_UNSET},
    {"qtype": 16, "qtype_name": "TXT", "answers": ["TXT 6 v=spf1"], "TTLs": [5.0]},
    {"id.resp_p": 5353, "query": "printer.local"},
    {"proto": "tcp", "id.orig_h": "2001:db8::71"},
]
_RECORDS = [
    _RECORD | change | {"ts": _RECORD["ts"] + n, "uid": f"CAcJw21BbVedgFnYH{n}"}
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
    "#path\tdns",
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
