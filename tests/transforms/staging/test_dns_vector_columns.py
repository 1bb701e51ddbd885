"""Vector's dnstap events by columns: as the row parser reads them, value by value."""

import json
from typing import Any

import pytest

from pipelines.landing.columns import _memory as memory
from pipelines.landing.columns import json_columns
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_json_columns import check
from transforms.sql import SqlSession

ABSENT = object()
ANSWER = {"domainName": "data.example.com.", "recordType": "A", "ttl": 60, "rData": "203.0.113.31"}
QUESTION = {"class": "IN", "domainName": "data.example.com.", "questionType": "A"}
DATA = {
    "fullRcode": 0, "rcodeName": "NoError", "header": {"id": 7, "opcode": 0, "rcode": 0},
    "question": [QUESTION], "answers": [ANSWER], "time": 1500, "timePrecision": "ns",
}  # fmt: skip
EVENT: dict[str, Any] = {
    "dataType": "Message", "messageType": "ClientResponse", "messageTypeId": 6, "extraInfo": "",
    "socketProtocol": "UDP", "sourceAddress": "192.0.2.71", "sourcePort": 39_745,
    "responseAddress": "198.51.100.53", "timestamp": "2026-03-10T03:01:00.500613639Z",
    "time": 1_773_111_719_500_613_639, "timePrecision": "ns", "responseData": DATA,
    "requestData": {"time": 500, "timePrecision": "ns"},
}  # fmt: skip
ALIAS = ANSWER | {"recordType": "CNAME", "rData": "Edge.example.net."}
OF_DATA: tuple[dict[str, Any], ...] = (
    {}, {"fullRcode": None}, {"fullRcode": ABSENT}, {"fullRcode": ABSENT, "header": {"rcode": 3}},
    {"fullRcode": ABSENT, "header": {"rcode": None}}, {"fullRcode": 3}, {"fullRcode": "3"},
    {"fullRcode": True}, {"fullRcode": 3.0}, {"fullRcode": "x", "rcodeName": "TIMEOUT"},
    {"fullRcode": "x", "rcodeName": "-"}, {"fullRcode": "x", "rcodeName": ABSENT},
    {"header": ABSENT}, {"header": None}, {"header": {"opcode": 5}}, {"header": {"opcode": "0"}},
    {"header": {"opcode": False}}, {"header": {"id": "-"}}, {"header": {"id": 70_000}},
    {"question": []}, {"question": None}, {"question": ABSENT}, {"question": "x"},
    {"question": [QUESTION, 5]}, {"question": [QUESTION | {"class": "CH"}]},
    {"question": [QUESTION | {"class": ""}]}, {"question": [{"domainName": "a"}]},
    {"question": [QUESTION | {"questionType": None}]}, {"question": [QUESTION | {"domainName": 5}]},
    {"question": [QUESTION | {"questionType": "-"}]}, {"question": [QUESTION | {"class": "-"}]},
    {"question": [QUESTION | {"domainName": "-"}]}, {"question": [QUESTION] * 4_097},
    {"question": [QUESTION | {"domainName": "a\\032b."}]}, {"answers": []}, {"answers": None},
    {"answers": ABSENT}, {"answers": "x"}, {"answers": [5]}, {"answers": [None]},
    {"answers": [ALIAS, ANSWER]}, {"answers": [ANSWER | {"recordType": None}]},
    {"answers": [ANSWER | {"ttl": "60"}]}, {"answers": [{}]}, {"answers": [ANSWER] * 4_097},
    {"time": 10**20}, {"time": 400}, {"time": 500}, {"time": 1.5}, {"timePrecision": "us"},
    {"time": 90_000 * 10**9}, {"timePrecision": None}, {"time": ABSENT},
)  # fmt: skip
CHANGES: tuple[dict[str, Any], ...] = (
    {"messageType": "ClientQuery"}, {"messageType": "ForwarderResponse"}, {"messageType": "x"},
    {"messageType": None}, {"messageType": "DnsResponse"}, {"dataType": ABSENT},
    {"dataType": ABSENT, "messageTypeId": ABSENT}, {"error": "x"}, {"error": None},
    {"extraInfo": "ml/train-0"}, {"extraInfo": "-"}, {"extraInfo": 5}, {"extraInfo": 0},
    {"sourceAddress": "0.0.0.0"}, {"sourceAddress": "::"}, {"sourceAddress": "-"},
    {"sourceAddress": "x"}, {"sourceAddress": ABSENT}, {"responseAddress": "0.0.0.0"},
    {"responseAddress": "2001:DB8::1"}, {"sourcePort": "-"}, {"sourcePort": 70_000},
    {"timestamp": ABSENT}, {"timestamp": "x"}, {"timestamp": 5}, {"responseData": None},
    {"responseData": ABSENT}, {"responseData": {}}, {"responseData": "x"}, {"requestData": None},
    {"requestData": "x"}, {"requestData": {"time": 0, "timePrecision": "s"}}, {"dns": {}},
    {"dns.qname": "a"}, {"socketProtocol": "x!"},
)  # fmt: skip


def stated(value: Any) -> Any:
    """The value without what is absent."""
    if not isinstance(value, dict):
        return value
    return {key: stated(inner) for key, inner in value.items() if inner is not ABSENT}


@pytest.mark.parametrize(
    "form", [None, "{/kubernetes/client-namespace}/{/kubernetes/client-pod-name}"]
)
def test_events_of_vector_are_read_alike(form: str | None) -> None:
    events = [EVENT | {"responseData": DATA | change} for change in OF_DATA]
    events += [EVENT | change for change in CHANGES]
    lines = [json.dumps(stated(event)).encode() for event in events]
    check("dns_collector", lines, record_format=form)
    check("dns_collector", lines, 1_000, node="n1")


def test_a_usual_event_is_for_columns() -> None:
    line = json.dumps(EVENT).encode() + b"\n"
    with SqlSession(threads=1) as session, memory() as scratch:
        (part,) = json_columns("dns_collector").reader(CONTEXT, session, scratch).read(line).parts
    assert part.columns["answers"].to_pylist() == [
        [{"name": "data.example.com", "type": "A", "data": "203.0.113.31", "ttl": 60}]
    ]
    assert part.columns["latency_seconds"].to_pylist() == [1e-6]
