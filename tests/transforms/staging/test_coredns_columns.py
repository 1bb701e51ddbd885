"""CoreDNS's JSON without a line in it by columns: as the row parser reads it, key by key."""

import json
from typing import Any

import pyarrow as pa

from pipelines.landing.columns import _memory as memory
from pipelines.landing.columns import json_columns
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_json_columns import check
from transforms.sql import SqlSession

RECORD = {
    "time": "2026-03-10T12:00:01.5Z", "level": "INFO", "msg": "asked", "plugin": "log",
    "client_ip": "192.0.2.7", "client_port": 39745, "qname": "data.example.com.", "qtype": "A",
    "qclass": "IN", "proto": "udp", "rcode": "NOERROR", "rflags": "qr,aa", "rsize": 76, "id": 7,
    "duration_seconds": 0.001293327,
}  # fmt: skip
LINE = '192.0.2.8:53 - 9 "AAAA IN line.example.com. tcp 40 true 4096" NXDOMAIN qr,rd 12 0.5s'
ABSENT = object()
CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"msg": LINE}, {"msg": LINE + ' "0"'}, {"msg": LINE, "qtype": 1}, {"msg": None},
    {"msg": ABSENT}, {"level": ABSENT}, {"plugin": ABSENT}, {"plugin": ""}, {"plugin": "errors"},
    {"rcode": None}, {"rcode": ABSENT}, {"rcode": "-"}, {"rcode": ""}, {"rcode": 3},
    {"rcode": "NXDOMAIN"}, {"rcode": "SERVFAIL", "rflags": "-"}, {"rflags": ABSENT},
    {"rflags": ABSENT, "rsize": 0}, {"rflags": ABSENT, "rsize": "-"}, {"rflags": "", "rsize": 0},
    {"rflags": ABSENT, "rsize": ABSENT}, {"rflags": None, "rsize": "0"},
    {"rcode": None, "duration_seconds": 0.0000005}, {"rcode": None, "duration_seconds": 0.0000015},
    {"rcode": None, "duration_seconds": 1.0000025}, {"rcode": None, "duration_seconds": 2.5},
    {"rcode": None, "duration_seconds": 86400}, {"rcode": None, "duration_seconds": 86401},
    {"rcode": None, "duration_seconds": ABSENT}, {"rcode": None, "time": "1970-01-01T00:00:00Z"},
    {"rcode": None, "time": "0001-01-01T00:00:00Z", "duration_seconds": 5},
    {"duration_seconds": 86400.0000001}, {"duration_seconds": 12345678}, {"duration_seconds": 1e-9},
    {"duration_seconds": 1.5e-07}, {"duration_seconds": 0.12345678949}, {"duration_seconds": 7},
    {"duration_seconds": 99999.123456789}, {"duration_seconds": "0.5"}, {"duration_seconds": True},
    {"duration_seconds": -1.5}, {"duration_seconds": 1e300}, {"duration": "3.25s"},
    {"duration": "3.25s", "duration_seconds": ABSENT}, {"duration": "-", "duration_seconds": None},
    {"duration": "1m2.5s", "duration_seconds": ABSENT}, {"duration": "5ms"}, {"duration": "x"},
    {"qtype": 1}, {"qtype": ""}, {"qtype": ABSENT}, {"qtype": "TYPE65"}, {"qtype": "HINFO"},
    {"qclass": ABSENT}, {"qclass": ""}, {"qclass": "CH"}, {"qclass": 5}, {"opcode": "5"},
    {"opcode": 0}, {"opcode": "-"}, {"qname": ABSENT}, {"qname": ""}, {"qname": 5},
    {"qname": "A.Example.COM"}, {"qname": "a\\.b.example.com."}, {"qname": "a b"},
    {"client_ip": ABSENT}, {"client_ip": "[2001:db8::1]"}, {"client_ip": "x"}, {"client_ip": 7},
    {"client_port": "-"}, {"client_port": 65536}, {"client_port": ABSENT}, {"client_port": "53"},
    {"local": "192.0.2.53"}, {"local": "192.0.2.053"}, {"local": "192.0.2.53", "msg": LINE},
    {"proto": ABSENT}, {"proto": "tcp"}, {"proto": "TCP"}, {"id": ABSENT}, {"id": "-"},
    {"id": 65536}, {"remote": "192.0.2.9"}, {"type": "MX"}, {"date": "2026-03-10T12:00:02Z"},
    {"time": ABSENT}, {"time": "x"}, {"kubernetes": {"host": "n7"}},
)  # fmt: skip


def lines() -> list[bytes]:
    """The record with each change."""
    changed = [RECORD | change for change in CHANGES]
    return [
        json.dumps({k: v for k, v in record.items() if v is not ABSENT}).encode()
        for record in changed
    ]


def test_records_without_a_line_are_read_alike() -> None:
    check("coredns", lines())
    check("coredns", [line for line in lines() for _ in range(2)], 4_000, node="n1")


def test_a_record_without_a_line_or_a_response_is_for_columns() -> None:
    sent, unanswered = lines()[0], json.dumps(RECORD | {"rcode": None, "local": "::1"}).encode()
    with SqlSession(threads=1) as session, memory() as scratch:
        reader = json_columns("coredns").reader(CONTEXT, session, scratch)
        (part,) = reader.read(sent + b"\n" + unanswered + b"\n").parts
    assert part.numbers.tolist() == [0, 1]
    found = {
        name: values.to_pylist() if isinstance(values, pa.Array) else values
        for name, values in part.columns.items()
    }
    assert found["query_name"] == ["data.example.com", "data.example.com"]
    assert found["rcode"] == ["NOERROR", None]
    assert found["latency_seconds"] == [0.001293327, None]
    assert found["resolver_address"] == [None, "::1"]
    # 12:00:01.5 less 1.293327 ms, to the nearest microsecond.
    assert [at.microsecond for at in found["event_at"]] == [500_000, 498_707]
