"""Cloud DNS query logs: entries are read, answers come out of their text, cut text is not believed.

The lines are constructed after the documentation of Cloud DNS and public lines.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    parse,
    rows,
    stated,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.gcp_dns import PARSER
from transforms.staging.lookup_fields import MAX_ANSWERS
from transforms.staging.parser import RawRecord

ENTRY = {
    "insertId": "1f28uoif27x",
    "jsonPayload": {
        "authAnswer": False,
        "protocol": "UDP",
        "queryName": "Data.Example.com.",
        "queryType": "AAAA",
        "rdata": (
            "Data.Example.com.\t300\tIN\tcname\tEdge.Example.net.\n"
            "edge.example.net.\t60\tIN\taaaa\t2001:db8:0:0:0:0:0:31"
        ),
        "responseCode": "NOERROR",
        "serverLatency": 14,
        "sourceIP": "192.0.2.71",
        "sourceNetwork": "default",
        "vmInstanceId": 8340998530665147123,
        "vmInstanceIdString": "8340998530665147123",
        "vmInstanceName": "111122223333.gke-ml-pool-1-0a1b2c3d-x1yz",
        "vmProjectId": "example-project",
        "vmZoneName": "europe-west2-a",
    },
    "logName": "projects/example-project/logs/dns.googleapis.com%2Fdns_queries",
    "receiveTimestamp": "2026-03-10T03:02:01.502805637Z",
    "resource": {
        "labels": {
            "location": "europe-west2",
            "project_id": "example-project",
            "source_type": "gce-vm",
            "target_name": "",
            "target_type": "external",
        },
        "type": "dns_query",
    },
    "severity": "INFO",
    "timestamp": "2026-03-10T03:01:59.500613639Z",
}
ANSWERS = [
    {"name": "data.example.com", "type": "CNAME", "data": "edge.example.net", "ttl": 300},
    {"name": "edge.example.net", "type": "AAAA", "data": "2001:db8::31", "ttl": 60},
]
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC),
    "node": "gke-ml-pool-1-0a1b2c3d-x1yz",
    "client_address": "192.0.2.71",
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "AAAA",
    "rcode": "NOERROR",
    "answers": ANSWERS,
    "latency_seconds": 0.014,
    "is_response": True,
}

reader = Reader(PARSER, node="n1")
entry = with_changes(ENTRY)


def payload(**changes):
    return entry({f"jsonPayload/{key}": new for key, new in changes.items()})


def test_every_column_of_an_entry_is_read():
    assert reader.lookup(ENTRY) == LOOKUP


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"sourceIP": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"sourceIP": ...}, {"client_address": None}),
        ({"sourceIP": ""}, {"client_address": None}),
        ({"protocol": "TCP"}, {"transport": "TCP"}),
        ({"protocol": ...}, {"transport": None}),
        ({"queryType": "HTTPS"}, {"query_type": "HTTPS"}),
        ({"queryType": ...}, {"query_type": None}),
        ({"queryName": "x.example.org"}, dict.fromkeys(NAMES, "x.example.org")),
        ({"queryName": "."}, dict.fromkeys(NAMES, ".")),
        ({"responseCode": "SERVFAIL"}, {"rcode": "SERVFAIL"}),
        ({"responseCode": "NXDOMAIN", "rdata": ""}, {"rcode": "NXDOMAIN", "answers": []}),
        ({"rdata": ...}, {"answers": None}),
        ({"responseCode": ..., "rdata": ...},
         {"rcode": None, "answers": None, "latency_seconds": None, "is_response": False}),
        ({"serverLatency": 0}, {"latency_seconds": 0.0}),
        ({"serverLatency": 1.5}, {"latency_seconds": 0.0015}),
        ({"serverLatency": -1}, {"latency_seconds": None}),
        ({"serverLatency": 10**30}, {"latency_seconds": None}),
        ({"serverLatency": ...}, {"latency_seconds": None}),
        ({"vmInstanceName": "111122223333.host.of.dots"}, {"node": "host.of.dots"}),
        ({"vmInstanceName": "instance-1"}, {"node": "instance-1"}),
        ({"vmInstanceName": "111122223333."}, {"node": "111122223333."}),
        ({"vmInstanceName": ...}, {"node": "n1"}),
        ({"vmInstanceId": 10**40, "authAnswer": True, "egressError": "x", "healthyIps": "y"}, {}),
        ({"destinationIP": "198.51.100.53"}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.lookup(payload(**changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"timestamp": "2026-03-10T03:01:59Z"},
         {"event_at": datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)}),
        ({"timestamp": "2026-03-10T04:01:59.5+01:00"},
         {"event_at": datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC)}),
        ({"insertId": ..., "receiveTimestamp": ..., "severity": ...}, {}),
        ({"logName": ...}, {}),
        ({"logName": "projects/p/logs/dns.googleapis.com/dns_queries"}, {}),
        ({"resource": ...}, {}),
        ({"resource/labels": ...}, {}),
        ({"resource/labels/source_type": "inbound-forwarding"}, {}),
    ],
)  # fmt: skip
def test_every_optional_part_of_an_entry_is_read(changes, fields):
    assert reader.lookup(entry(changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("rdata", "answers"),
    [
        ("a.x.\t300\tIN\ta\t203.0.113.7", [("a.x", "A", "203.0.113.7", 300)]),
        ("a.x.\t1\tIN\tmx\t1 mx1.x.\na.x.\t1\tIN\tmx\t10 mx2.x.",
         [("a.x", "MX", "1 mx1.x.", 1), ("a.x", "MX", "10 mx2.x.", 1)]),
        ("a.x.\t1\tIN\tns\tNS1.x.", [("a.x", "NS", "ns1.x", 1)]),
        ('a.x.\t1\tIN\ttxt\t"v=1 \\"x\\" secret=FAKE-EXAMPLE"',
         [("a.x", "TXT", '"v=1 \\"x\\" secret=***"', 1)]),
        ("a.x.\t2147483648\tIN\ta\t203.0.113.7", [("a.x", "A", "203.0.113.7", None)]),
        ("a.x.\t1\tIN\ta\tno address", [("a.x", "A", None, 1)]),
        ("a.x. 300 IN a 203.0.113.7", [("a.x", "A", "203.0.113.7", 300)]),
        ("a.x.\t1\tIN\ta\t203.0.113.7\n", [("a.x", "A", "203.0.113.7", 1)]),
        ("\n", []),
    ],
)  # fmt: skip
def test_answers_come_out_of_their_text(rdata, answers):
    found = reader.lookup(payload(rdata=rdata))["answers"]
    assert [(a["name"], a["type"], a["data"], a["ttl"]) for a in found] == answers


def test_the_last_record_of_a_text_that_was_cut_is_left_out():
    record = "data.example.com.\t300\tIN\ta\t203.0.113.{}\n"
    text = "".join(record.format(n) for n in range(10, 25))[:260] + "..."
    found = reader.lookup(payload(rdata=text))["answers"]
    # A record has 40 characters, so the seventh is cut in its middle.
    assert [a["data"] for a in found] == [f"203.0.113.{n}" for n in range(10, 16)]


@pytest.mark.parametrize("text", ['a.x.\t1\tIN\ttxt\t"' + "v" * 244 + "...", "..."])
def test_a_text_that_was_cut_in_its_first_record_tells_no_answers(text):
    assert reader.lookup(payload(rdata=text)) == but(LOOKUP, {"answers": None})


@pytest.mark.parametrize(
    ("name", "rcode", "asked"),
    [
        ("pypi.example.org.c.example-project.internal.", "NXDOMAIN", "pypi.example.org"),
        ("pypi.example.org.google.internal.", "NXDOMAIN", "pypi.example.org"),
        ("db.tools.svc.cluster.local.", "NOERROR", "db.tools.svc.cluster.local"),
    ],
)
def test_a_search_suffix_comes_off(name, rcode, asked):
    value = payload(queryName=name, responseCode=rcode, rdata="")
    assert reader.asked(value) == (asked, name[:-1])


def test_times_are_read_whatever_their_form():
    reader.check_times(lambda text: entry({"timestamp": text}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"logName": "projects/p/logs/compute.googleapis.com%2Fvpc_flows"}, "other_log"),
        ({"logName": "projects/p/logs/x", "jsonPayload": 5}, "other_log"),
        ({"logName": ..., "resource/type": "gce_subnetwork"}, "other_log"),
        ({"resource/labels/source_type": "internet"}, "public_zone"),
    ],
)
def test_what_is_no_look_up_of_a_client_is_ignored(changes, reason):
    assert reader.one(entry(changes)).ignore == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"timestamp": ...}, "no_time"),
        ({"timestamp": "yesterday"}, "no_time"),
        ({"timestamp": 5}, "wrong_type"),
        ({"jsonPayload": ...}, "query_name"),
        ({"jsonPayload": "text"}, "wrong_type"),
        ({"jsonPayload/queryName": ...}, "query_name"),
        ({"jsonPayload/queryName": 5}, "wrong_type"),
        ({"jsonPayload/queryName": "a" * 1_021}, "name"),
        ({"jsonPayload/queryType": "not a type"}, "query_type"),
        ({"jsonPayload/responseCode": "not a code"}, "rcode"),
        ({"jsonPayload/sourceIP": "192.0.2.999"}, "source_ip"),
        ({"jsonPayload/serverLatency": "14"}, "wrong_type"),
        ({"jsonPayload/rdata": []}, "wrong_type"),
        ({"jsonPayload/rdata": "a.x."}, "rdata"),
        ({"jsonPayload/rdata": "a.x.\t1\tIN\ta"}, "rdata"),
        ({"jsonPayload/rdata": "a.x.\t-1\tIN\ta\t203.0.113.7"}, "rdata"),
        ({"jsonPayload/rdata": "a.x.\t1\tIN\t?\t203.0.113.7"}, "query_type"),
        ({"jsonPayload/rdata": "a.x.\t1\tIN\ta\t203.0.113.7\n" * (MAX_ANSWERS + 1)}, "answers"),
        ({"resource": "text"}, "wrong_type"),
    ],
)
def test_an_entry_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(entry(changes))) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(ENTRY)[:-40], "invalid_json"),
        ("free text", "invalid_json"),
        ("5", "wrong_type"),
        ("{}", "query_name"),
        ('{"flow":{}}', "query_name"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_what_is_no_entry_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_a_reject_shows_where_its_entry_breaks():
    parsed = reader.one(payload(serverLatency="14"))
    assert parsed.reject is not None
    assert parsed.reject.endswith(" at $.jsonPayload.serverLatency")
    assert parsed.place is not None
    assert parsed.place.raw[: parsed.place.at].endswith(b'"serverLatency": ')


def test_an_array_as_the_command_line_writes_it_gives_one_result_per_entry():
    text = json.dumps([ENTRY, entry({"logName": "x"}), payload(sourceIP="x")], indent=2)
    found = parse(PARSER, [RawRecord("$", 0, text.encode())])
    check_each(found)
    assert [(p.locator, word(p)) for p in found] == [
        ("$[0]", "accepted"), ("$[1]", "other_log"), ("$[2]", "source_ip"),
    ]  # fmt: skip
    assert stated(rows(found, "dns_lookups")[0], "record_id") == LOOKUP


def test_an_entry_is_identified_by_its_insert_id_and_time():
    def record_id(value):
        return reader.row(value)["record_id"]

    first = record_id(ENTRY)
    # Logs are delivered at least once, with another time of receipt.
    assert first == record_id(entry({"receiveTimestamp": "2026-03-10T03:09:00Z"}))
    assert first != record_id(entry({"insertId": "other"}))
    assert first != record_id(entry({"timestamp": "2026-03-10T03:01:58Z"}))
    without = entry({"insertId": ...})
    assert record_id(without) == record_id(json.dumps(without) + " ")
    assert record_id(without) != record_id(without | {"severity": "NOTICE"})


def test_a_secret_in_an_entry_is_not_stored():
    value = payload(
        queryName="x.akiaiosfodnn7example.example.com.",
        vmInstanceName="111122223333.AKIAIOSFODNN7EXAMPLE",
        protocol="AKIAIOSFODNN7EXAMPLE",
        rdata='a.x.\t1\tIN\ttxt\t"password=FAKE-txt-EXAMPLE"',
    )
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    kept = written([reader.one(value), broken, reader.one(payload(rdata="FAKE-rdata"))])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    assert broken.reject is not None
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(ENTRY) + "\n" + json.dumps(ENTRY)[:50], 3),
        (json.dumps([ENTRY, ENTRY], indent=2), 3),
        (json.dumps(ENTRY, indent=2), 3),
        (json.dumps(entry({"logName": ...})), 3),
        (json.dumps(entry({"resource": ...})), 3),
        (json.dumps(entry({"logName": ..., "resource": ...})), 0),
        (json.dumps(entry({"logName": "projects/p/logs/x"})), 0),
        (json.dumps(ENTRY)[:60], 0),
        (json.dumps(payload(queryName=...)), 0),
        ('{"jsonPayload":{"connection":{}},"logName":"x"}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_entry(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_no_sample_is_taken_for_cloud_dns(samples):
    assert reader.taken(samples) == set()


PATHS = [
    *ENTRY, *(f"jsonPayload/{key}" for key in ENTRY["jsonPayload"]), "resource/type",
    "resource/labels", "resource/labels/source_type",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(entry({path: new}))


@given(st.text("a.\t\n 1INx:", max_size=40))
def test_any_text_of_answers_is_read_or_refused(text):
    reader.one(payload(rdata=text))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_entry_changes_no_other(at, cuts):
    texts = [json.dumps(entry({"insertId": f"id{n}"})) for n in range(4)]
    reader.check_damage(texts, at, cuts)
