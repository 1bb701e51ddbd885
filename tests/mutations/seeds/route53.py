"""Route 53 Resolver: lines, an array, and one document over many lines."""

import json

_RECORD = {
    "version": "1.100000",
    "account_id": "111122223333",
    "region": "eu-west-1",
    "vpc_id": "vpc-0a1b2c3d",
    "query_timestamp": "2026-03-10T03:01:59Z",
    "query_name": "data.example.com.",
    "query_type": "A",
    "query_class": "IN",
    "rcode": "NOERROR",
    "answers": [
        {"Rdata": "edge.example.net.", "Type": "CNAME", "Class": "IN"},
        {"Rdata": "203.0.113.31", "Type": "A", "Class": "IN"},
    ],
    "srcaddr": "192.0.2.71",
    "srcport": "39745",
    "transport": "UDP",
    "srcids": {"instance": "i-0a1b2c3d4e5f60718"},
}
_CHANGES = [
    {},
    {"query_type": "AAAA", "answers": [{"Rdata": "2001:db8::5", "Type": "AAAA", "Class": "IN"}]},
    {
        "rcode": "NXDOMAIN",
        "answers": [],
        "query_name": "pypi.example.org.eu-west-1.compute.internal.",
    },
    {"srcids": {}, "transport": "TCP", "srcaddr": "2001:db8::71"},
    {"query_type": "TXT", "answers": [{"Rdata": '"v=spf1 -all"', "Type": "TXT", "Class": "IN"}]},
    {"srcids": {"resolver_endpoint": "rslvr-in-0"}, "firewall_rule_action": "ALERT"},
    {"query_class": "CH", "query_type": "TXT", "query_name": "version.bind."},
]
_RECORDS = [_RECORD | change | {"srcport": str(40_000 + n)} for n, change in enumerate(_CHANGES)]

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(record)}\n" for record in _RECORDS).encode(),
    json.dumps(_RECORDS, indent=1).encode(),
    json.dumps(_RECORDS[0], indent=4).encode(),
)
