"""Route 53 Resolver query logs: every value of a record is read, or the record says why not."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_rows,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.lookup_fields import MAX_ANSWERS
from transforms.staging.parser import RawRecord
from transforms.staging.route53 import PARSER

RECORD = {
    "version": "1.100000",
    "account_id": "111122223333",
    "region": "eu-west-1",
    "vpc_id": "vpc-0a1b2c3d",
    "query_timestamp": "2026-03-10T03:01:59Z",
    "query_name": "Data.Example.com.",
    "query_type": "A",
    "query_class": "IN",
    "rcode": "NOERROR",
    "answers": [
        {"Rdata": "Edge.Example.net.", "Type": "CNAME", "Class": "IN"},
        {"Rdata": "203.0.113.31", "Type": "A", "Class": "IN"},
    ],
    "srcaddr": "192.0.2.71",
    "srcport": "39745",
    "transport": "UDP",
    "srcids": {"instance": "i-0a1b2c3d4e5f60718"},
}
ANSWERS = [
    {"name": None, "type": "CNAME", "data": "edge.example.net", "ttl": None},
    {"name": None, "type": "A", "data": "203.0.113.31", "ttl": None},
]
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC),
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": ANSWERS,
    "is_response": True,
}

reader = Reader(PARSER)
record = with_changes(RECORD)


def test_every_column_of_a_record_is_read():
    assert reader.lookup(RECORD) == LOOKUP
    assert reader.lookup(RECORD, node="n1") == LOOKUP | {"node": "n1"}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"srcaddr": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"srcaddr": ...}, {"client_address": None}),
        ({"srcaddr": ""}, {"client_address": None}),
        ({"srcport": 53}, {"client_port": 53}),
        ({"srcport": ...}, {"client_port": None}),
        ({"srcport": ""}, {"client_port": None}),
        ({"transport": "TCP"}, {"transport": "TCP"}),
        ({"transport": "doh"}, {"transport": "DOH"}),
        ({"transport": ...}, {"transport": None}),
        ({"transport": "x" * 100}, {"transport": None}),
        ({"query_type": "TYPE65"}, {"query_type": "HTTPS"}),
        ({"query_type": ...}, {"query_type": None}),
        ({"query_class": ...}, {}),
        ({"rcode": "SERVFAIL"}, {"rcode": "SERVFAIL"}),
        ({"rcode": ..., "answers": ...}, {"rcode": None, "answers": None, "is_response": False}),
        ({"rcode": "", "answers": []}, {"rcode": None, "answers": None, "is_response": False}),
        ({"answers": []}, {"answers": []}),
        ({"answers": ...}, {"answers": None}),
        ({"answers": None}, {"answers": None}),
        ({"query_name": "x.example.org"}, dict.fromkeys(NAMES, "x.example.org")),
        ({"query_name": "."}, dict.fromkeys(NAMES, ".")),
        ({"query_name": ""}, dict.fromkeys(NAMES, ".")),
        ({"query_name": "a\\.b\x00é.example.org."},
         dict.fromkeys(NAMES, "a\\.b\\000\\195\\169.example.org")),
        ({"srcids": {}}, {}),
        ({"srcids": {"resolver_endpoint": "rslvr-in-0"}}, {}),
        ({"firewall_rule_action": "BLOCK", "firewall_rule_group_id": "rslvr-frg-0"}, {}),
        ({"a_later_field": {"of": ["any", "kind"]}}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.lookup(record(changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"Rdata": "2001:DB8:0::7", "Type": "AAAA", "Class": "IN"}, ("AAAA", "2001:db8::7")),
        ({"Rdata": "no address", "Type": "A"}, ("A", None)),
        ({"Rdata": None, "Type": "A"}, ("A", None)),
        ({"Type": "TYPE64"}, ("SVCB", None)),
        ({"Rdata": "Host.example.net.", "Type": "PTR"}, ("PTR", "host.example.net")),
        ({"Rdata": "10 Mail.example.net.", "Type": "MX"}, ("MX", "10 Mail.example.net.")),
        ({"Rdata": '"v=1 token=FAKE-EXAMPLE end"', "Type": "TXT"}, ("TXT", '"v=1 token=*** end"')),
        ({"Rdata": "x y " * 500, "Type": "TXT"}, ("TXT", ("x y " * 500)[:1023] + "…")),
    ],
)
def test_every_value_of_an_answer_is_read(answer, expected):
    [found] = reader.lookup(record({"answers": [answer]}))["answers"]
    assert found == {"name": None, "type": expected[0], "data": expected[1], "ttl": None}


@pytest.mark.parametrize(
    ("name", "rcode", "asked"),
    [
        ("pypi.example.org.tools.svc.cluster.local.", "NXDOMAIN", "pypi.example.org"),
        ("pypi.example.org.eu-west-1.compute.internal.", "NXDOMAIN", "pypi.example.org"),
        ("db.tools.svc.cluster.local.", "NOERROR", "db.tools.svc.cluster.local"),
    ],
)
def test_a_search_suffix_comes_off(name, rcode, asked):
    value = record({"query_name": name, "rcode": rcode, "answers": []})
    assert reader.asked(value) == (asked, name[:-1])


def test_a_first_alias_to_the_asked_name_proves_an_expansion():
    alias = {"Rdata": "huggingface.co.", "Type": "CNAME", "Class": "IN"}
    name = "huggingface.co.team-a.svc.cluster.local."
    assert (
        reader.lookup(record({"query_name": name, "answers": [alias]}))["query_name"]
        == "huggingface.co"
    )


def test_times_are_read_whatever_their_form():
    reader.check_times(lambda text: record({"query_timestamp": text}))


def test_other_classes_are_ignored():
    assert reader.one(record({"query_class": "CH"})).ignore == "other_class"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"query_timestamp": ...}, "no_time"),
        ({"query_timestamp": ""}, "no_time"),
        # As the developer guide has it.
        ({"query_timestamp": "2017-03-16T19:20:177Z"}, "no_time"),
        ({"query_timestamp": 1_773_111_719}, "wrong_type"),
        ({"query_name": ...}, "query_name"),
        ({"query_name": None}, "query_name"),
        ({"query_name": 5}, "wrong_type"),
        ({"query_name": "a" * 1_021}, "name"),
        ({"query_name": "é" * 200}, "name"),
        ({"query_type": "not a type"}, "query_type"),
        ({"rcode": "not a code"}, "rcode"),
        ({"srcaddr": "localhost"}, "srcaddr"),
        ({"srcaddr": "1" * 100}, "srcaddr"),
        ({"srcport": "65536"}, "srcport"),
        ({"srcport": -1}, "srcport"),
        ({"srcport": "x"}, "srcport"),
        ({"srcport": 1.5}, "wrong_type"),
        ({"srcport": 10**40}, "srcport"),
        ({"answers": "203.0.113.31"}, "wrong_type"),
        ({"answers": ["203.0.113.31"]}, "wrong_type"),
        ({"answers": [{"Rdata": "203.0.113.31"}]}, "answers"),
        ({"answers": [{"Rdata": "x", "Type": "?"}]}, "query_type"),
        ({"answers": [{"Rdata": "a" * 1_021, "Type": "CNAME"}]}, "name"),
        ({"answers": [{"Type": "A"}] * (MAX_ANSWERS + 1)}, "answers"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(record(changes))) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(RECORD)[:-40], "invalid_json"),
        (json.dumps(RECORD) * 2, "invalid_json"),
        ("free text", "invalid_json"),
        (b'{"query_name":"\xff"}', "invalid_json"),
        ('{"query_name":' + "[" * 100_000, "wrong_type"),
        ('{"other":' + "[" * 100_000, "too_deep"),
        ("5", "wrong_type"),
        ("{}", "query_name"),
        ('{"flow":{}}', "query_name"),
    ],
)
def test_what_is_no_record_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_a_reject_shows_where_its_record_breaks():
    parsed = reader.one(record({"srcaddr": "192.0.2.999"}))
    assert parsed.reject == "srcaddr: expected an IP address, got `192.0.2.999`"
    assert parsed.place is not None
    assert parsed.place.raw[parsed.place.at :].startswith(b"192.0.2.999")


def test_a_document_and_an_array_give_the_rows_of_their_records():
    other = record({"srcport": "7"})
    document = json.dumps(RECORD, indent=4).encode()
    [parsed] = parse(PARSER, [RawRecord("$", 0, document)])
    assert (parsed.locator, parsed.offset) == ("$", 0)
    assert stated(rows([parsed], "dns_lookups")[0], "record_id") == LOOKUP
    several = parse(PARSER, [RawRecord("$", 0, json.dumps([RECORD, 5, other]).encode())])
    assert [(p.locator, word(p)) for p in several] == [
        ("$[0]", "accepted"), ("$[1]", "wrong_type"), ("$[2]", "accepted"),
    ]  # fmt: skip
    assert [row["client_port"] for row in rows(several, "dns_lookups")] == [39_745, 7]
    behind = document + b"\n" + json.dumps(other, indent=4).encode()
    found = parse(PARSER, [RawRecord("$", 0, behind)])
    assert [row["client_port"] for row in rows(found, "dns_lookups")] == [39_745, 7]
    assert word(reader.one('[{"query_name":}]')) == "invalid_json"


def test_the_id_of_a_record_is_the_whole_record():
    ids = [reader.row(r)["record_id"] for r in (RECORD, json.dumps(RECORD) + " ")]
    assert ids[0] == ids[1]
    for changes in ({"srcport": "7"}, {"srcids": {}}, {"query_timestamp": "2026-03-10T03:02:00Z"}):
        assert reader.row(record(changes))["record_id"] != ids[0]


def test_a_secret_in_a_record_is_not_stored():
    value = record(
        {
            "query_name": "x.akiaiosfodnn7example.example.com.",
            "transport": "AKIAIOSFODNN7EXAMPLE",
            "answers": [{"Rdata": "password=FAKE-txt-EXAMPLE", "Type": "TXT"}],
        }
    )
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    kept = written([reader.one(value), broken, reader.one(value | {"srcaddr": "FAKE-address"})])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    assert broken.reject is not None
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(RECORD) + "\n", 3),
        (json.dumps(RECORD) + "\n" + json.dumps(RECORD)[:50], 3),
        (json.dumps(RECORD, indent=4), 3),
        (json.dumps([RECORD, RECORD]), 3),
        ("\n\n" + json.dumps(RECORD), 3),
        (json.dumps(RECORD)[:60], 0),
        (json.dumps(record({"srcaddr": ...})), 0),
        ('{"query_name":"a","query_type":"A"}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_the_sample_lines_are_read(samples):
    parsed = parse_file(PARSER, samples / "dns" / "route53_resolver.elastic.jsonl")
    check_each(parsed)
    check_rows(parsed)
    assert words(parsed) == {"accepted": 12}
    found = rows(parsed, "dns_lookups")
    assert [row["query_type"] for row in found] == [
        "A", "PTR", "AAAA", "AAAA", "A", "A", "A", "AAAA", "A", "A", "PTR", "PTR",
    ]  # fmt: skip
    assert [row["client_port"] for row in found] == [
        48_701, 47_924, 37_272, 43_312, 43_312, 43_312, 39_727, 44_474, 51_725, 52_785, 56_067,
        47_882,
    ]  # fmt: skip
    assert [len(row["answers"]) for row in found] == [0, 1, 0, 2, 2, 1, 1, 1, 4, 2, 1, 1]
    assert [row["rcode"] for row in found if row["rcode"] != "NOERROR"] == ["NXDOMAIN"] * 2
    assert stated(found[9], "record_id") == {
        "event_at": datetime(2021, 12, 11, 22, 48, 33, tzinfo=UTC),
        "client_address": "172.31.86.159",
        "client_port": 52_785,
        "transport": "UDP",
        "query_name": "abcd.example.com",
        "original_query_name": "abcd.example.com",
        "query_type": "A",
        "rcode": "NOERROR",
        "answers": [
            {"name": None, "type": "CNAME", "data": "test.example.com", "ttl": None},
            {"name": None, "type": "A", "data": "1.128.3.4", "ttl": None},
        ],
        "is_response": True,
    }
    assert found[3]["answers"][1]["data"] == "2a02:cf40:add:4002:91f2:a9b2:e09a:6fc6"
    assert found[11]["query_name"].startswith("6.c.f.6.a.9.0.e.")
    assert found[11]["query_name"].endswith(".ip6.arpa")
    assert len({row["record_id"] for row in found}) == 12


@pytest.mark.samples
def test_the_sample_document_of_a_resolver_endpoint_is_read(samples):
    parsed = parse_file(PARSER, samples / "dns" / "route53_resolver_endpoint.ocsf.json")
    check_rows(parsed)
    assert [(p.locator, word(p)) for p in parsed] == [("$", "accepted")]
    [found] = rows(parsed, "dns_lookups")
    assert found["event_at"] == datetime(2022, 10, 13, 21, 2, 36, tzinfo=UTC)
    assert (found["client_address"], found["client_port"]) == ("10.200.21.100", 15_083)
    assert found["query_name"] == "ip-127-0-0-62.alert.firewall.canary"
    assert found["answers"] == [{"name": None, "type": "A", "data": "127.0.0.62", "ttl": None}]


@pytest.mark.samples
def test_no_other_sample_is_taken_for_route53(samples):
    assert reader.taken(samples) == {
        "route53_resolver.elastic.jsonl",
        "route53_resolver_endpoint.ocsf.json",
    }


@given(st.sampled_from(sorted(RECORD)), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(key, new):
    reader.one(record({key: new}))


@given(st.sampled_from(["Rdata", "Type", "Class"]), ANY_VALUE)
def test_any_value_of_an_answer_is_read_or_refused(key, new):
    reader.one(record({"answers": [{"Rdata": "203.0.113.31", "Type": "A"} | {key: new}]}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_record_changes_no_other(at, cuts):
    texts = [json.dumps(record({"srcport": n})) for n in range(4)]
    reader.check_damage(texts, at, cuts)
