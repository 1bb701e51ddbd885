"""Azure DNS: resource logs as lines and under `records`, rows of the tables, the firewall's."""

import json
from typing import Any

_ANSWER = [
    {"Type": "CNAME", "Class": "IN", "TTL": 300, "RData": "edge.example.net."},
    {"Type": "A", "Class": "IN", "TTL": 60, "RData": "203.0.113.31"},
]
_PROPERTIES: dict[str, Any] = {
    "version": "1.0",
    "region": "westeurope",
    "vnet_id": "/subscriptions/0/virtualNetworks/v",
    "query_name": "data.example.com.",
    "query_type": "A",
    "query_class": "IN",
    "response_code": "0",
    "answer": _ANSWER,
    "srcipaddr": "192.0.2.71",
    "srcport": "39745",
    "transport": "UDP",
    "query_response_time": "12",
    "resolution_path": "PublicDnsResolution",
}
_FIREWALL: dict[str, Any] = {
    "SourceIp": "192.0.2.71",
    "SourcePort": 39_745,
    "QueryId": 17_757,
    "QueryType": "A",
    "QueryClass": "IN",
    "QueryName": "data.example.com.",
    "Protocol": "udp",
    "ResponseCode": "NOERROR",
    "ResponseFlags": "qr,rd,ra",
    "ResponseSize": 94,
    "RequestDurationSecs": 0.012,
}
_ROW: dict[str, Any] = {
    "TimeGenerated": "2026-03-10T03:01:59.5006136Z",
    "Type": "DNSQueryLogs",
    "OperationName": "RESPONSE_SUCCESS",
    "QueryName": "data.example.com.",
    "QueryType": "A",
    "QueryClass": "IN",
    "ResponseCode": 0,
    "Answer": json.dumps(_ANSWER),
    "SourceIpAddress": "192.0.2.71",
    "SourcePort": 39_745,
    "Transport": "UDP",
    "QueryResponseTime": 12,
}


def _record(number: int, category: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "time": f"2026-03-10T03:01:{number:02d}.5006136Z",
        "resourceId": "/SUBSCRIPTIONS/0/PROVIDERS/MICROSOFT.NETWORK/DNSRESOLVERPOLICIES/P",
        "category": category,
        "operationName": "RESPONSE_SUCCESS",
        "properties": properties,
    }


_RECORDS = [
    _record(0, "DnsResponse", _PROPERTIES),
    _record(1, "DnsResponse", _PROPERTIES | {"response_code": "3", "answer": []}),
    _record(2, "DnsResponse", _PROPERTIES | {"query_type": "AAAA", "answer": []}),
    _record(3, "AZFWDnsQuery", _FIREWALL),
    _record(4, "AZFWDnsQuery", _FIREWALL | {"ResponseFlags": "-", "ResponseSize": 0}),
    _record(5, "AuditEvent", {}),
]
_ROWS = [_ROW | {"SourcePort": 40_000 + n} for n in range(4)]

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(record)}\n" for record in _RECORDS).encode(),
    json.dumps({"records": _RECORDS}, indent=1).encode(),
    "".join(f"{json.dumps(row)}\n" for row in _ROWS).encode(),
)
