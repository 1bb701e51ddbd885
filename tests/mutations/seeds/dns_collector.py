"""DNS-collector: nested lines, flat lines, and dnstap as Vector writes it."""

import json
from typing import Any

_ANSWERS = [
    {"name": "data.example.com", "rdatatype": "CNAME", "class": "IN", "ttl": 300,
     "rdata": "edge.example.net"},
    {"name": "edge.example.net", "rdatatype": "A", "class": "IN", "ttl": 60,
     "rdata": "203.0.113.31"},
]  # fmt: skip


def _nested(number: int, answers: list[dict[str, Any]], **changes: str) -> dict[str, Any]:
    return {
        "network": {
            "family": "IPv4",
            "protocol": "UDP",
            "query-ip": "192.0.2.71",
            "query-port": "39745",
            "response-ip": "198.51.100.53",
            "response-port": "53",
            "ip-defragmented": False,
        },
        "dns": {
            "id": number,
            "length": 140,
            "opcode": 0,
            "rcode": changes.get("rcode", "NOERROR"),
            "qname": changes.get("qname", "data.example.com"),
            "qtype": changes.get("qtype", "A"),
            "qclass": "IN",
            "flags": {"qr": True, "tc": False, "aa": False, "ra": True},
            "malformed-packet": False,
            "resource-records": {"an": answers, "ns": [], "ar": []},
        },
        "edns": {"udp-size": 1232, "rcode": 0, "version": 0, "dnssec-ok": 0, "options": []},
        "dnstap": {
            "operation": changes.get("operation", "CLIENT_RESPONSE"),
            "identity": "coredns-0",
            "extra": "-",
            "timestamp-rfc3339ns": f"2026-03-10T03:01:{number:02d}.500613639Z",
            "latency": 0.000613,
        },
    }


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        parts = [_flat(inner, f"{path}.{key}" if path else key) for key, inner in value.items()]
    elif isinstance(value, list):
        if not value:
            return {path: "-"}
        parts = [_flat(inner, f"{path}.{index}") for index, inner in enumerate(value)]
    else:
        return {path: value}
    return {key: inner for part in parts for key, inner in part.items()}


def _vector(number: int, kind: str = "ClientResponse") -> dict[str, Any]:
    return {
        "dataType": "Message",
        "messageType": kind,
        "messageTypeId": 6,
        "extraInfo": "",
        "socketProtocol": "UDP",
        "sourceAddress": "192.0.2.71",
        "sourcePort": 39_745,
        "responseAddress": "198.51.100.53",
        "time": 1_773_111_719_500_613_639,
        "timePrecision": "ns",
        "timestamp": f"2026-03-10T03:01:{number:02d}.500613639Z",
        "responseData": {
            "fullRcode": 0,
            "rcodeName": "NoError",
            "header": {"id": number, "opcode": 0},
            "question": [{"class": "IN", "domainName": "data.example.com.", "questionType": "A"}],
            "answers": [
                {
                    "class": "IN",
                    "domainName": "data.example.com.",
                    "rData": "203.0.113.31",
                    "recordType": "A",
                    "ttl": 60,
                }
            ],
        },
    }


_RECORDS = [
    _nested(0, _ANSWERS),
    _nested(1, [], rcode="NXDOMAIN", qname="pypi.example.org.ml.svc.cluster.local"),
    _nested(2, [], qtype="AAAA"),
    _nested(3, [], operation="CLIENT_QUERY"),
    _nested(4, _ANSWERS, operation="FORWARDER_RESPONSE"),
    _nested(5, [], operation="CLIENT_QUERY", rcode="TIMEOUT"),
]


def _lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


FILES: tuple[bytes, ...] = (
    _lines(_RECORDS),
    _lines([_flat(record) for record in _RECORDS]),
    _lines([_vector(0), _vector(1), _vector(2, "ClientQuery"), _vector(3, "ForwarderResponse")]),
)
