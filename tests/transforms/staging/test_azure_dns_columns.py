"""Rows of Azure's tables, and answers written as text, by columns: as the row parser does."""

import json
from typing import Any

import pyarrow as pa

from pipelines.landing.columns import _memory as memory
from pipelines.landing.columns import json_columns
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_json_columns import check
from transforms.sql import SqlSession

ALIAS = {"Type": "CNAME", "Class": "IN", "TTL": 300, "RData": "Edge.Example.net."}
ADDRESS = {"Type": "A", "Class": "IN", "TTL": 60, "RData": "203.0.113.31"}
ROW = {
    "TimeGenerated": "2026-03-10T03:01:59.5006136Z", "Type": "DNSQueryLogs",
    "QueryName": "data.example.com.ml.svc.cluster.local.", "QueryType": "A", "QueryClass": "IN",
    "ResponseCode": 0, "Answer": json.dumps([ALIAS, ADDRESS]), "SourceIpAddress": "192.0.2.71",
    "SourcePort": 39_745, "Transport": "UDP",
}  # fmt: skip
PROPERTIES = {
    "query_name": "data.example.com.", "query_type": "A", "query_class": "IN",
    "response_code": "0", "answer": [ALIAS, ADDRESS], "srcipaddr": "192.0.2.71",
    "srcport": "39745", "transport": "UDP",
}  # fmt: skip
ABSENT = object()
ANSWERS: tuple[Any, ...] = (
    ABSENT, None, "", " ", "[]", "null", "{}", "x", "[", "[1]", '["x"]', "[null]", "[,]", [],
    [None], {}, 7, True, [ADDRESS, ALIAS], [json.dumps(ALIAS)],
    json.dumps([json.dumps(ALIAS), ADDRESS]),
    json.dumps([ALIAS], indent=1), json.dumps([ALIAS | {"RData": "a\\b\n\u00fc"}]), [ALIAS] * 3,
    '[{"Type":"A","RData":"192.0.2.1","TTL":1e400}]', '[{"Type":"A","Type":"NS","RData":"b"}]',
    "[" * 300 + "]" * 300, [ALIAS | {"TTL": -1}], [ALIAS | {"TTL": "60"}], [ADDRESS | {"Type": 28}],
    [ADDRESS] * 4_097,
)  # fmt: skip
CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"Type": "AZFWDnsQuery", "ResponseFlags": "-", "ResponseSize": 0, "RequestDurationSecs": 1},
    {"Type": "azfwdnsquery", "RequestDurationSecs": 0.5, "QueryId": 7}, {"Type": "Other"},
    {"Type": None}, {"Type": 5}, {"Type": ""}, {"category": "DnsResponse"}, {"Category": "x"},
    {"properties": {}}, {"time": "2026-03-10T03:02:00Z"}, {"query_name": "b.example.com."},
    {"QueryName": ABSENT, "query_name": "b.example.com."}, {"QueryName": ""}, {"QueryName": 5},
    {"QueryName": True}, {"QueryName": ABSENT}, {"ResponseCode": 3}, {"ResponseCode": "NXDOMAIN"},
    {"ResponseCode": ABSENT}, {"ResponseCode": "-"}, {"ResponseCode": "x!"}, {"QueryClass": "CH"},
    {"QueryClass": 1}, {"SourceIp": "192.0.2.9"}, {"SourceIp": "192.0.2.9", "SourceIpAddress": ""},
    {"SourceIp": "2001:DB8::1", "SourceIpAddress": ABSENT}, {"SourceIpAddress": "x"},
    {"SourcePort": "53"}, {"SourcePort": 65_536}, {"Protocol": "tcp"}, {"Transport": 5},
    {"transport": "TCP"}, {"answer": []}, {"TimeGenerated": "x"}, {"TimeGenerated": ABSENT},
)  # fmt: skip


def stated(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not ABSENT}


def test_rows_of_the_tables_are_read_alike() -> None:
    records = [ROW | change for change in CHANGES] + [ROW | {"Answer": x} for x in ANSWERS]
    records += [ROW | {"Answer": x, "ResponseCode": None} for x in ANSWERS]
    check("azure_dns", [json.dumps(stated(record)).encode() for record in records])


def test_answers_of_resource_logs_are_read_alike() -> None:
    lines = [
        json.dumps(
            {
                "time": "2026-03-10T03:01:59Z",
                "category": "DnsResponse",
                "properties": stated(PROPERTIES | {"answer": answers}),
            }
        ).encode()
        for answers in ANSWERS
    ]
    check("azure_dns", lines)
    check("azure_dns", lines, 1_000)


def test_a_row_is_for_columns() -> None:
    refused = ROW | {"ResponseCode": 3, "Answer": ""}
    text = b"".join(json.dumps(record).encode() + b"\n" for record in (ROW, refused))
    with SqlSession(threads=1) as session, memory() as scratch:
        reader = json_columns("azure_dns").reader(CONTEXT, session, scratch)
        (part,) = reader.read(text).parts
    assert part.numbers.tolist() == [0, 1]
    found = {
        name: values.to_pylist() if isinstance(values, pa.Array) else values
        for name, values in part.columns.items()
    }
    name = "data.example.com.ml.svc.cluster.local"
    assert found["original_query_name"] == [name, name]
    assert found["rcode"] == ["NOERROR", "NXDOMAIN"]
    assert found["client_port"] == [39_745, 39_745]
    assert found["answers"] == [
        [
            {"name": None, "type": "CNAME", "data": "edge.example.net", "ttl": 300},
            {"name": None, "type": "A", "data": "203.0.113.31", "ttl": 60},
        ],
        None,
    ]
