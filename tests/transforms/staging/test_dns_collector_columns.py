"""DNS-collector's flat JSON, and queries without a response, by columns: as by rows."""

import json
from typing import Any

import pytest

from tests.transforms.staging.test_json_columns import check

LIST = "dns.resource-records.an"
RECORD = {
    "network.protocol": "UDP", "network.query-ip": "192.0.2.71", "network.query-port": "39745",
    "network.response-ip": "198.51.100.53", "dns.id": 7, "dns.opcode": 0, "dns.rcode": "NOERROR",
    "dns.qname": "Data.Example.com", "dns.qtype": "A", "dns.qclass": "IN",
    "dns.malformed-packet": False, "dnstap.operation": "CLIENT_RESPONSE", "dnstap.extra": "-",
    "dnstap.timestamp-rfc3339ns": "2026-03-10T03:01:00.500613639Z", "dnstap.latency": 0.000613,
}  # fmt: skip
ABSENT = object()


def answer(number: int, name: str, kind: Any, data: Any, ttl: Any = 60) -> dict[str, Any]:
    """An answer with its number in the keys."""
    parts = {"name": name, "rdatatype": kind, "ttl": ttl, "rdata": data}
    return {
        f"{LIST}.{number}.{part}": value for part, value in parts.items() if value is not ABSENT
    }


ALIAS = answer(0, "Data.Example.com", "CNAME", "edge.example.net")
ADDRESS = answer(1, "edge.example.net", "A", "203.0.113.31")
CHANGES: tuple[dict[str, Any], ...] = (
    {}, {LIST: "-"}, {LIST: None}, {LIST: []}, ALIAS, ALIAS | ADDRESS, ALIAS | {LIST: "-"}, ADDRESS,
    ALIAS | answer(2, "a", "A", "192.0.2.1"), answer(0, "a", None, "192.0.2.1"),
    answer(0, "a", ABSENT, "192.0.2.1"), ALIAS | answer(1, "b", ABSENT, ABSENT, ABSENT),
    ALIAS | {f"{LIST}.1.rdatatype": None}, answer(0, "a", "-", "b"), answer(0, "a", 5, "b"),
    answer(0, "-", "A", "x"), answer(0, "a", "A", "192.0.2.1", "60"), answer(0, "a", "A", None),
    answer(0, "a", "TXT", 'v="1"\\ \u00fc'), answer(0, "a", "A", "192.0.2.1", 2**40),
    {k: v for n in range(8) for k, v in answer(n, "a", "A", f"192.0.2.{n}").items()},
    {k: v for n in range(9) for k, v in answer(n, "a", "A", f"192.0.2.{n}").items()},
    {k: v for n in range(12) for k, v in answer(n, "a", "A", f"192.0.2.{n}").items()},
    {f"{LIST}.x.rdatatype": "A"}, {f"{LIST}.00.rdatatype": "A"}, {"dns.rcode": "TIMEOUT"},
    {"dns.rcode": "TIMEOUT", "dnstap.operation": "CLIENT_QUERY"} | ALIAS,
    {"dns.rcode": "TIMEOUT", "dnstap.latency": "x"}, {"dnstap.operation": "CLIENT_QUERY"},
    {"dnstap.operation": "FORWARDER_RESPONSE"}, {"dnstap.operation": "x"},
    {"dnstap.operation": ABSENT}, {"dns.rcode": "-"}, {"dns.rcode": ABSENT}, {"dns.qname": "-"},
    {"dns.qname": ABSENT}, {"dns.qclass": "CH"}, {"dns.opcode": 5}, {"dns.opcode": "0"},
    {"dns.malformed-packet": True} | ALIAS, {"dns.malformed-packet": 1} | ALIAS,
    {"dns.malformed-packet": "0"} | ALIAS, {"dns.malformed-packet": ABSENT} | ALIAS,
    {"dnstap.latency": "0.5"}, {"dnstap.latency": -1}, {"dnstap.latency": ABSENT},
    {"dnstap.extra": "ml/train-0"}, {"network.query-ip": "<nil>"}, {"network.query-port": "-"},
    {"dns": "x"}, {"dns": {}}, {"messageType": "ClientResponse"}, {"dns.operation": "x"},
    {"timestamp-rfc3339ns": "2026-03-10T03:01:01Z"}, {"dnstap.timestamp-rfc3339ns": ABSENT},
)  # fmt: skip


def lines() -> list[bytes]:
    """The record with each change."""
    records = [RECORD | change for change in CHANGES]
    return [
        json.dumps({k: v for k, v in record.items() if v is not ABSENT}).encode()
        for record in records
    ]


@pytest.mark.parametrize(
    "stated", [None, "{/kubernetes/client-namespace}/{/kubernetes/client-pod-name}"]
)
def test_flat_records_are_read_alike(stated: str | None) -> None:
    check("dns_collector", lines(), record_format=stated)
    check("dns_collector", [line for line in lines() for _ in range(2)], 4_000, node="n1")


def test_no_answer_of_a_type_that_is_null_is_lost() -> None:
    alias = json.dumps(RECORD | ALIAS).encode()
    key = f'"{LIST}.1.rdatatype"'.encode()
    texts = [alias[:-1] + b"," + key + end for end in (b":null}", b" : null}", b":\tnull}")]
    texts.append(alias[:-1] + b',"' + LIST.encode() + b'.1.rdat\\u0061type":null}')
    _, rejects, _ = check("dns_collector", [*texts, alias])
    assert [index for index, *_ in rejects] == [0, 1, 2, 3]
