"""Azure DNS query logs: resource logs and table rows say the same, and nothing is guessed."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CUTS, parse, rows, word, written
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.azure_dns import PARSER
from transforms.staging.lookup_fields import MAX_ANSWERS
from transforms.staging.parser import RawRecord

RESOURCE = "/SUBSCRIPTIONS/0/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.NETWORK/DNSRESOLVERPOLICIES/P"
ANSWER = [
    {"Type": "CNAME", "Class": "IN", "TTL": 300, "RData": "Edge.Example.net."},
    {"Type": "A", "Class": "IN", "TTL": 60, "RData": "203.0.113.31"},
]
RECORD = {
    "time": "2026-03-10T03:01:59.5006136Z",
    "resourceId": RESOURCE,
    "category": "DnsResponse",
    "operationName": "RESPONSE_SUCCESS",
    "properties": {
        "version": "1.0",
        "sub_id": "0",
        "region": "westeurope",
        "vnet_id": "/subscriptions/0/virtualNetworks/v",
        "query_name": "Data.Example.com.",
        "query_type": "A",
        "query_class": "IN",
        "response_code": "0",
        "answer": ANSWER,
        "srcipaddr": "192.0.2.71",
        "srcport": "39745",
        "dstipaddr": "198.51.100.53",
        "dstport": "53",
        "transport": "UDP",
        "query_response_time": "12",
        "resolution_path": "PublicDnsResolution",
        "resolverpolicy_rule_action": "Allow",
    },
}
ROW = {
    "TimeGenerated": "2026-03-10T03:01:59.5006136Z",
    "Type": "DNSQueryLogs",
    "OperationName": "RESPONSE_SUCCESS",
    "QueryName": "Data.Example.com.",
    "QueryType": "A",
    "QueryClass": "IN",
    "ResponseCode": 0,
    "Answer": ANSWER,
    "SourceIpAddress": "192.0.2.71",
    "SourcePort": 39_745,
    "Transport": "UDP",
    "QueryResponseTime": 12,
}
FIREWALL = {
    "time": "2026-03-10T03:01:59.5006136Z",
    "resourceId": RESOURCE,
    "category": "AZFWDnsQuery",
    "properties": {
        "SourceIp": "192.0.2.71",
        "SourcePort": 39_745,
        "QueryId": 17_757,
        "QueryType": "A",
        "QueryClass": "IN",
        "QueryName": "Data.Example.com.",
        "Protocol": "udp",
        "RequestSize": 57,
        "DnssecOkBit": False,
        "EDNS0BufferSize": 512,
        "ResponseCode": "NOERROR",
        "ResponseFlags": "qr,rd,ra",
        "ResponseSize": 94,
        "RequestDurationSecs": 0.012,
        "ErrorNumber": 0,
        "ErrorMessage": "",
    },
}
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC),
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": [
        {"name": None, "type": "CNAME", "data": "edge.example.net", "ttl": 300},
        {"name": None, "type": "A", "data": "203.0.113.31", "ttl": 60},
    ],
    "is_response": True,
}
LOST = {"rcode": None, "answers": None, "latency_seconds": None, "is_response": False}

reader = Reader(PARSER)
record, row, firewall = with_changes(RECORD), with_changes(ROW), with_changes(FIREWALL)


def properties(**changes):
    return record({f"properties/{key}": value for key, value in changes.items()})


@pytest.mark.parametrize(
    "value",
    [
        RECORD,
        ROW,
        {"records": [RECORD]},
        {"records": [ROW]},
        [RECORD],
        row({"Answer": json.dumps(ANSWER)}),
        row({"Answer": [json.dumps(each) for each in ANSWER]}),
        record({"category": "DNSRESPONSE"}),
        row({"category": "DnsResponse", "Type": ...}),
        properties(response_code=0, srcport=39_745),
        properties(response_code="NoError"),
    ],
)
def test_every_form_gives_the_same_row(value):
    assert reader.lookup(value) == LOOKUP
    assert reader.lookup(value, node="n1") == LOOKUP | {"node": "n1"}


def test_every_column_of_a_firewall_record_is_read():
    assert reader.lookup(FIREWALL) == but(
        LOOKUP, {"answers": None, "latency_seconds": 0.012, "dns_message_id": 17_757}
    )


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"srcipaddr": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"srcipaddr": ...}, {"client_address": None}),
        ({"srcipaddr": ""}, {"client_address": None}),
        ({"srcport": ...}, {"client_port": None}),
        ({"transport": "Tcp"}, {"transport": "TCP"}),
        ({"transport": ...}, {"transport": None}),
        ({"query_type": "HTTPS"}, {"query_type": "HTTPS"}),
        ({"query_type": ""}, {"query_type": None}),
        ({"query_class": ...}, {}),
        ({"query_class": "1"}, {}),
        ({"response_code": 3, "answer": []}, {"rcode": "NXDOMAIN", "answers": []}),
        ({"response_code": "SERVFAIL", "answer": ...}, {"rcode": "SERVFAIL", "answers": None}),
        ({"response_code": ...}, LOST),
        ({"response_code": ""}, LOST),
        ({"answer": ""}, {"answers": None}),
        ({"answer": "[]"}, {"answers": []}),
        (
            {"answer": [{"Type": 28, "RData": "2001:DB8::5", "TTL": "7"}]},
            {"answers": [{"name": None, "type": "AAAA", "data": "2001:db8::5", "ttl": 7}]},
        ),
        (
            {"answer": [{"Type": "MX", "RData": {"Exchange": "x"}, "TTL": 2**32 - 1}]},
            {"answers": [{"name": None, "type": "MX", "data": None, "ttl": None}]},
        ),
        ({"query_name": "x.example.org"}, dict.fromkeys(NAMES, "x.example.org")),
        ({"query_name": "."}, dict.fromkeys(NAMES, ".")),
    ],
)
def test_every_optional_value_is_read(changes, fields):
    assert reader.lookup(properties(**changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"ResponseFlags": "-", "ResponseSize": 0}, LOST),
        ({"ResponseCode": "-"}, LOST),
        ({"ResponseFlags": "", "ResponseSize": 40}, {}),
        ({"RequestDurationSecs": 0}, {"latency_seconds": None}),
        ({"RequestDurationSecs": -0.5}, {"latency_seconds": None}),
        ({"RequestDurationSecs": 1e300}, {"latency_seconds": None}),
        ({"RequestDurationSecs": ...}, {"latency_seconds": None}),
        ({"QueryId": 0}, {"dns_message_id": 0}),
        ({"Protocol": "tcp"}, {"transport": "TCP"}),
    ],
)
def test_every_optional_value_of_a_firewall_record_is_read(changes, fields):
    base = but(LOOKUP, {"answers": None, "latency_seconds": 0.012, "dns_message_id": 17_757})
    value = firewall({f"properties/{key}": new for key, new in changes.items()})
    assert reader.lookup(value) == but(base, fields)


def test_a_latency_without_a_unit_is_not_kept():
    assert "latency_seconds" not in reader.lookup(properties(query_response_time=0.5))


def test_times_are_read_whatever_their_form():
    reader.check_times(lambda text: record({"time": text}))
    reader.check_times(lambda text: row({"TimeGenerated": text}))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"category": "AuditEvent"}), "other_category"),
        (row({"Type": "Heartbeat"}), "other_category"),
        (record({"category": "AzureFirewallDnsProxy"}), "other_category"),
        (properties(query_class="CH"), "other_class"),
    ],
)
def test_what_is_no_look_up_is_ignored(value, reason):
    assert reader.one(value).ignore == reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (record({"time": ...}), "no_time"),
        (record({"time": 1_773_111_719}), "no_time"),
        (record({"category": ...}), "no_category"),
        (record({"properties": []}), "properties"),
        (properties(query_name=...), "query_name"),
        (properties(query_name=""), "query_name"),
        (properties(query_name=["x"]), "name"),
        (properties(query_name="a" * 1_021), "name"),
        (properties(query_type="not a type"), "query_type"),
        (properties(response_code="not a code"), "rcode"),
        (properties(response_code=10**30), "rcode"),
        (properties(response_code=-1), "rcode"),
        (properties(srcipaddr="localhost"), "source"),
        (properties(srcipaddr=True), "client"),
        (properties(srcport=65_536), "source_port"),
        (properties(srcport="x"), "source_port"),
        (properties(answer="not json"), "answer"),
        (properties(answer="[" * 100_000), "answer"),
        (properties(answer=5), "answer"),
        (properties(answer=[5]), "answer"),
        (properties(answer=[{}]), "answer"),
        (properties(answer=[{"Type": "?", "RData": "x"}]), "query_type"),
        (properties(answer=[{"Type": "A", "TTL": -1}]), "answer"),
        (properties(answer=[{"Type": "A"}] * (MAX_ANSWERS + 1)), "answers"),
        (firewall({"properties/RequestDurationSecs": "fast"}), "duration"),
        (firewall({"properties/QueryId": 65_536}), "query_id"),
        ("free text", "invalid_json"),
        ("{}", "no_category"),
        ('{"records":5}', "wrong_type"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(value, reason):
    assert word(reader.one(value)) == reason


def test_records_of_a_document_are_told_apart():
    whole = json.dumps({"records": [RECORD, 5, FIREWALL]}, indent=1).encode()
    found = parse(PARSER, [RawRecord("$", 0, whole)])
    assert [(p.locator, word(p)) for p in found] == [
        ("$.records[0]", "accepted"), ("$.records[1]", "wrong_type"),
        ("$.records[2]", "accepted"),
    ]  # fmt: skip
    assert len({r["record_id"] for r in rows(found, "dns_lookups")}) == 2


def test_a_search_suffix_comes_off():
    name = "pypi.example.org.abcdefgh.ax.internal.cloudapp.net."
    value = properties(query_name=name, response_code=3, answer=[])
    assert reader.asked(value) == ("pypi.example.org", name[:-1])


def test_a_secret_in_a_record_is_not_stored():
    value = properties(
        query_name="x.akiaiosfodnn7example.example.com.",
        answer=[{"Type": "TXT", "RData": "password=FAKE-txt-EXAMPLE", "TTL": 1}],
    )
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    wrong = reader.one(properties(srcipaddr="FAKE-address", answer="FAKE"))
    kept = written([reader.one(value), broken, wrong])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    assert "FAKE" not in excerpt(broken.raw) + excerpt(
        reader.one(properties(answer='["FAKE-text')).raw
    )


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:40], 3),
        (json.dumps({"records": [RECORD, RECORD]})[:-200], 3),
        (json.dumps({"records": [record({"category": "AuditEvent"}), RECORD]}, indent=2), 3),
        (json.dumps([ROW]), 3),
        (json.dumps(FIREWALL), 3),
        (json.dumps(properties(query_name=...)), 0),
        (json.dumps(record({"category": "StorageRead"})), 0),
        (json.dumps(row({"Type": ...})), 0),
        ('{"records":[5]}', 0),
        ("[]", 0),
        ("free text", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_records(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_no_sample_is_taken_for_azure_dns(samples):
    assert reader.taken(samples) == set()


@given(st.sampled_from([*RECORD, *(f"properties/{k}" for k in RECORD["properties"])]), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(record({path: new}))


@given(st.sampled_from([f"properties/{key}" for key in FIREWALL["properties"]]), ANY_VALUE)
def test_any_value_of_a_firewall_record_is_read_or_refused(path, new):
    reader.one(firewall({path: new}))


@given(st.sampled_from(["Type", "TTL", "RData"]), ANY_VALUE)
def test_any_value_of_an_answer_is_read_or_refused(key, new):
    reader.one(properties(answer=[ANSWER[1] | {key: new}]))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    reader.check_damage([json.dumps(properties(srcport=n)) for n in range(4)], at, cuts)
