"""dnstap messages as Vector writes them: the same rows as of DNS-collector's JSON."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CUTS, word, written
from tests.transforms.staging.lookup_rows import ANY_VALUE, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.dns_collector import PARSER
from transforms.staging.dns_vector import text_of_instant
from transforms.staging.lookup_fields import MAX_ANSWERS

EVENT = {
    "dataType": "Message",
    "dataTypeId": 1,
    "messageType": "ClientResponse",
    "messageTypeId": 6,
    "extraInfo": "ml/train-0",
    "serverId": "coredns-0",
    "serverVersion": "CoreDNS-1.11.1",
    "socketFamily": "INET",
    "socketProtocol": "UDP",
    "sourceAddress": "192.0.2.71",
    "sourcePort": 39_745,
    "responseAddress": "198.51.100.53",
    "responsePort": 53,
    "time": 1_773_111_719_500_613_639,
    "timePrecision": "ns",
    "timestamp": "2026-03-10T03:01:59.500613639Z",
    "requestData": {"time": 1_773_111_719_500_000_639, "timePrecision": "ns"},
    "responseData": {
        "time": 1_773_111_719_500_613_639,
        "timePrecision": "ns",
        "fullRcode": 0,
        "rcodeName": "NoError",
        "header": {"id": 17_757, "opcode": 0, "qr": 1, "rcode": 0},
        "question": [
            {
                "class": "IN",
                "domainName": "Data.Example.com.",
                "questionType": "A",
                "questionTypeId": 1,
            }
        ],
        "answers": [
            {
                "class": "IN",
                "domainName": "Data.Example.com.",
                "rData": "Edge.Example.net.",
                "recordType": "CNAME",
                "recordTypeId": 5,
                "ttl": 300,
            },
            {
                "class": "IN",
                "domainName": "edge.example.net.",
                "rData": "203.0.113.31",
                "recordType": "A",
                "recordTypeId": 1,
                "ttl": 60,
            },
        ],
    },
}
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC),
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "resolver_address": "198.51.100.53",
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": [
        {"name": "data.example.com", "type": "CNAME", "data": "edge.example.net", "ttl": 300},
        {"name": "edge.example.net", "type": "A", "data": "203.0.113.31", "ttl": 60},
    ],
    "latency_seconds": 0.000613,
    "is_response": True,
    "dns_message_id": 17_757,
}

reader = Reader(PARSER)
event = with_changes(EVENT)


def test_every_column_of_an_event_is_read():
    assert reader.lookup(EVENT) == LOOKUP
    form = "{/kubernetes/client-namespace}/{/kubernetes/client-pod-name}"
    assert reader.lookup(EVENT, record_format=form, node="n1") == LOOKUP | {
        "client_namespace": "ml", "client_pod_name": "train-0", "node": "n1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"timestamp": ...}, {}),
        ({"timestamp": ..., "time": 1_773_111_719_500_613, "timePrecision": "us"}, {}),
        (
            {"timestamp": ..., "time": 1_773_111_719, "timePrecision": "s"},
            {"event_at": datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)},
        ),
        ({"sourceAddress": "::"}, {"client_address": None}),
        ({"responseAddress": "0.0.0.0", "sourcePort": 0},
         {"resolver_address": None, "client_port": 0}),
        ({"responseAddress": ...}, {"resolver_address": None}),
        ({"socketProtocol": "DOT"}, {"transport": "DOT"}),
        ({"requestData": ...}, {"latency_seconds": None}),
        ({"requestData/time": 1_773_111_719_500_613_640}, {"latency_seconds": None}),
        ({"requestData/timePrecision": "us"}, {"latency_seconds": None}),
        ({"requestData/time": 10**40}, {"latency_seconds": None}),
        ({"responseData/fullRcode": 3, "responseData/answers": ...},
         {"rcode": "NXDOMAIN", "answers": []}),
        ({"responseData/fullRcode": 16}, {"rcode": "BADVERS"}),
        ({"responseData/fullRcode": ..., "responseData/header/rcode": 2}, {"rcode": "SERVFAIL"}),
        ({"responseData/fullRcode": ..., "responseData/header/rcode": ...}, {}),
        ({"responseData/answers": []}, {"answers": []}),
        ({"responseData/question": EVENT["responseData"]["question"] * 2}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.lookup(event(changes)) == but(LOOKUP, fields)


def test_names_are_in_presentation_form():
    question = [{"domainName": "a\\ b.Example.com.", "questionType": "TXT", "class": "IN"}]
    found = reader.lookup(event({"responseData/question": question}))
    assert found["query_name"] == "a\\ b.example.com"


def test_times_are_read_whatever_their_form():
    reader.check_times(lambda text: event({"timestamp": text}))
    assert text_of_instant(0, "ns") == "1970-01-01T00:00:00+00:00"
    assert text_of_instant(253_402_300_799_999, "ms") == "9999-12-31T23:59:59.999000+00:00"
    assert text_of_instant(253_402_300_800, "s") is None
    assert text_of_instant(-1, "s") == "1969-12-31T23:59:59+00:00"
    assert text_of_instant(True, "s") is None
    assert text_of_instant(1, "minutes") is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"messageType": "ClientQuery"}, "query"),
        ({"messageType": "ForwarderResponse"}, "resolver_side"),
        ({"messageType": "ResolverQuery"}, "resolver_side"),
        ({"messageType": "AuthResponse"}, "resolver_side"),
        ({"responseData/header/opcode": 4}, "other_operation"),
    ],
)
def test_what_is_no_look_up_of_a_client_is_ignored(changes, reason):
    assert reader.one(event(changes)).ignore == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"messageType": "Other"}, "operation"),
        ({"error": "cannot parse"}, "undecoded"),
        ({"timestamp": ..., "time": ...}, "no_time"),
        ({"timestamp": ..., "timePrecision": "weeks"}, "no_time"),
        ({"responseData": ...}, "qname"),
        ({"responseData": []}, "responseData"),
        ({"responseData/header": 5}, "header"),
        ({"responseData/question": {}}, "question"),
        ({"responseData/question": []}, "qname"),
        ({"responseData/answers": [5]}, "answers"),
        ({"responseData/answers": [{"recordType": "A"}] * (MAX_ANSWERS + 1)}, "answers"),
        ({"responseData/answers": [{"ttl": 1}]}, "answer"),
        ({"responseData/fullRcode": -1}, "rcode"),
        ({"sourcePort": 65_536}, "query-port"),
    ],
)
def test_an_event_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(event(changes))) == reason


def test_a_secret_in_an_event_is_not_stored():
    value = event({"extraInfo": "token=FAKE-extra-EXAMPLE", "rawData": "FAKE-raw"})
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    kept = written([reader.one(value), broken, reader.one(event({"error": "FAKE-error"}))])
    assert "FAKE" not in kept
    assert "FAKE" not in excerpt(broken.raw) + excerpt(reader.one(event({"error": "FAKE"})).raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(EVENT) + "\n", 3),
        (json.dumps(event({"messageType": ...})), 0),
        (json.dumps(event({"responseData": ..., "requestData": ...})), 0),
    ],
)
def test_a_file_is_recognised_by_its_first_event(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_the_object_of_vectors_documentation_is_read(samples):
    page = json.loads((samples / "dns" / "vector_parse_dnstap_example.json").read_text())
    value = page["examples"][0]["return"]
    assert PARSER.recognise(json.dumps(value).encode()).score == 3
    assert reader.one(value).ignore == "resolver_side"
    as_client = value | {"messageType": "ClientResponse", "messageTypeId": 6}
    assert reader.lookup(as_client) == {
        "event_at": datetime(2020, 6, 30, 3, 50, 7, 920_014, tzinfo=UTC),
        "client_port": 46_835,
        "resolver_address": "2001:502:7094::30",
        "transport": "UDP",
        "query_name": "h5.example.com",
        "original_query_name": "h5.example.com",
        "query_type": "SOA",
        "rcode": "BADVERS",
        "answers": [],
        "is_response": True,
        "dns_message_id": 45_880,
    }


PATHS = [
    *EVENT, *(f"responseData/{key}" for key in EVENT["responseData"]), "requestData/time",
    "responseData/header/id", "responseData/header/opcode",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(event({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_event_changes_no_other(at, cuts):
    reader.check_damage([json.dumps(event({"sourcePort": n})) for n in range(4)], at, cuts)
