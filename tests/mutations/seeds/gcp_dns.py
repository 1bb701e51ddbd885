"""Cloud DNS: entries of a sink as lines, and the array of the command line."""

import json
from typing import Any


def _entry(number: int, payload: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {
        "insertId": f"1a2b3c4d{number}",
        "jsonPayload": {
            "authAnswer": True,
            "protocol": "UDP",
            "queryName": "data.example.com.",
            "queryType": "A",
            "rdata": "data.example.com.\t300\tIN\tcname\tedge.example.net.\n"
            "edge.example.net.\t60\tIN\ta\t203.0.113.31",
            "responseCode": "NOERROR",
            "serverLatency": number,
            "sourceIP": "192.0.2.71",
            "sourceNetwork": "default",
            "vmInstanceId": 5_678_901_234_567_890_123,
            "vmInstanceName": "111122223333.gke-alder-1",
            **payload,
        },
        "logName": "projects/example-project/logs/dns.googleapis.com%2Fdns_queries",
        "receiveTimestamp": "2026-03-10T03:02:00.123456789Z",
        "resource": {
            "type": "dns_query",
            "labels": {"location": "europe-west1", "source_type": "gce-vm", **labels},
        },
        "severity": "INFO",
        "timestamp": f"2026-03-10T03:01:{number:02d}.500613639Z",
    }


_ENTRIES = [
    _entry(0, {}),
    _entry(1, {"queryType": "AAAA", "rdata": "data.example.com.\t5\tIN\taaaa\t0:0:0:0:0:0:0:1"}),
    _entry(
        2,
        {"queryName": "pypi.example.org.google.internal.", "responseCode": "NXDOMAIN", "rdata": ""},
    ),
    _entry(3, {"queryType": "TXT", "rdata": 'x.\t1\tIN\ttxt\t"' + "v" * 246 + "..."}),
    _entry(4, {"protocol": "TCP", "sourceIP": "2001:db8::71"}),
    _entry(5, {}, source_type="internet"),
]

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(entry)}\n" for entry in _ENTRIES).encode(),
    json.dumps(_ENTRIES, indent=2).encode(),
)
