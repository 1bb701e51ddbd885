"""DNS-collector JSON: both forms say the same, one look-up counts once, nothing broken is kept."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    parse,
    parse_file,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.dns_collector import PARSER
from transforms.staging.lookup_fields import MAX_ANSWERS

NESTED = {
    "network": {
        "family": "IPv4",
        "protocol": "UDP",
        "query-ip": "192.0.2.71",
        "query-port": "39745",
        "response-ip": "198.51.100.53",
        "response-port": "53",
        "ip-defragmented": False,
        "tcp-reassembled": False,
    },
    "dns": {
        "id": 17757,
        "length": 140,
        "opcode": 0,
        "rcode": "NOERROR",
        "qname": "Data.Example.com",
        "qtype": "A",
        "qclass": "IN",
        "qdcount": 1,
        "ancount": 2,
        "nscount": 0,
        "arcount": 0,
        "flags": {"qr": True, "tc": False, "aa": False, "ra": True, "ad": False, "rd": True},
        "malformed-packet": False,
        "resource-records": {
            "an": [
                {
                    "name": "Data.Example.com",
                    "rdatatype": "CNAME",
                    "class": "IN",
                    "ttl": 300,
                    "rdata": "Edge.Example.net.",
                },
                {
                    "name": "edge.example.net",
                    "rdatatype": "A",
                    "class": "IN",
                    "ttl": 60,
                    "rdata": "203.0.113.31",
                },
            ],
            "ns": [],
            "ar": [],
        },
    },
    "edns": {"udp-size": 1232, "rcode": 0, "version": 0, "dnssec-ok": 0, "options": []},
    "dnstap": {
        "operation": "CLIENT_RESPONSE",
        "identity": "coredns-7d8f",
        "version": "CoreDNS-1.11.1",
        "extra": "ml/train-0",
        "timestamp-rfc3339ns": "2026-03-10T03:01:59.500613639Z",
        "latency": 0.000613,
    },
}
ANSWERS = [
    {"name": "data.example.com", "type": "CNAME", "data": "edge.example.net", "ttl": 300},
    {"name": "edge.example.net", "type": "A", "data": "203.0.113.31", "ttl": 60},
]
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 500613, tzinfo=UTC),
    "node": "n1",
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "resolver_address": "198.51.100.53",
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": ANSWERS,
    "latency_seconds": 0.000613,
    "is_response": True,
    "dns_message_id": 17_757,
}


def flat(value):
    """The flat form: paths joined by dots, lists as numbered keys, an empty list as `-`."""
    found = {}

    def walk(path, item):
        if isinstance(item, dict):
            for key, inner in item.items():
                walk(f"{path}.{key}" if path else key, inner)
        elif isinstance(item, list):
            if not item:
                found[path] = "-"
            for index, inner in enumerate(item):
                walk(f"{path}.{index}", inner)
        else:
            found[path] = item

    walk("", value)
    return found


reader = Reader(PARSER, node="n1")
record = with_changes(NESTED)


def nested(**changes):
    """The record with values at paths changed (`dns__qname`); a value of `...` takes it out."""
    return record({p.replace("__", "/").replace("_", "-"): new for p, new in changes.items()})


def changed(**fields):
    return but(LOOKUP, fields)


@pytest.mark.parametrize("form", [dict, flat])
def test_both_forms_give_the_same_row(form):
    assert reader.lookup(form(NESTED)) == LOOKUP


@pytest.mark.parametrize("form", [dict, flat])
@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"network__query_ip": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"network__query_ip": "-"}, {"client_address": None}),
        ({"network__query_ip": "<nil>"}, {"client_address": None}),
        ({"network__query_ip": "9f86d081884c7d65" * 4}, {"client_address": None}),
        ({"network__query_ip": ...}, {"client_address": None}),
        ({"network__query_port": "-"}, {"client_port": None}),
        ({"network__query_port": 53}, {"client_port": 53}),
        ({"network__response_ip": "-"}, {"resolver_address": None}),
        ({"network__protocol": "DOT"}, {"transport": "DOT"}),
        ({"network__protocol": "DNSCryptUDP"}, {"transport": "DNSCRYPTUDP"}),
        ({"network__protocol": "-"}, {"transport": None}),
        ({"dns__id": ...}, {"dns_message_id": None}),
        ({"dns__qtype": "TYPE65"}, {"query_type": "HTTPS"}),
        ({"dns__qtype": "-"}, {"query_type": None}),
        ({"dns__qclass": ...}, {}),
        ({"dns__opcode": ...}, {}),
        ({"dns__rcode": "UNKNOWN"}, {"rcode": "UNKNOWN"}),
        ({"dns__rcode": "SERVFAIL"}, {"rcode": "SERVFAIL"}),
        ({"dns__malformed_packet": 1}, {"answers": None}),
        ({"dns__qname": "x.example.org"}, dict.fromkeys(NAMES, "x.example.org")),
        ({"dns__qname": "."}, dict.fromkeys(NAMES, ".")),
        ({"dns__qname": "a b\x00.x"}, dict.fromkeys(NAMES, "a\\ b\\000.x")),
        ({"dns__resource_records__an": []}, {"answers": []}),
        ({"dns__resource_records__an": ...}, {"answers": None}),
        ({"dns__resource_records": ...}, {"answers": None}),
        ({"dnstap__latency": 0}, {"latency_seconds": None}),
        ({"dnstap__latency": -0.5}, {"latency_seconds": None}),
        ({"dnstap__latency": "0.25"}, {"latency_seconds": 0.25}),
        ({"dnstap__latency": "-"}, {"latency_seconds": None}),
        ({"dnstap__latency": "nan"}, {"latency_seconds": None}),
        ({"dnstap__latency": 10**30}, {"latency_seconds": None}),
        ({"dnstap__latency": ...}, {"latency_seconds": None}),
        ({"dnstap__identity": ...}, {}),
        ({"dnstap__operation": "DNS_RESPONSE"}, {}),
        ({"geoip": {"city": "-"}, "reducer": {"occurrences": 3}}, {}),
    ],
)
def test_every_value_of_a_record_is_read(form, changes, fields):
    assert reader.lookup(form(nested(**changes))) == changed(**fields)


@pytest.mark.parametrize("form", [dict, flat])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            {"name": "A.x", "rdatatype": "AAAA", "class": "IN", "ttl": 5, "rdata": "2001:DB8:0::7"},
            {"name": "a.x", "type": "AAAA", "data": "2001:db8::7", "ttl": 5},
        ),
        (
            {"name": "a.x", "rdatatype": "TXT", "ttl": 5, "rdata": "v=1 token=FAKE-EXAMPLE end"},
            {"name": "a.x", "type": "TXT", "data": "v=1 token=*** end", "ttl": 5},
        ),
        (
            {"name": "a.x", "rdatatype": "TXT", "ttl": 2**31, "rdata": "x y " * 500},
            {"name": "a.x", "type": "TXT", "data": ("x y " * 500)[:1023] + "…", "ttl": None},
        ),
        (
            {"name": "a.x", "rdatatype": "TYPE64", "ttl": -1, "rdata": "-"},
            {"name": "a.x", "type": "SVCB", "data": None, "ttl": None},
        ),
        ({"rdatatype": "A", "rdata": "no address"},
         {"name": None, "type": "A", "data": None, "ttl": None}),
        ({"name": "-", "rdatatype": "PTR", "ttl": None, "rdata": "Host.x."},
         {"name": None, "type": "PTR", "data": "host.x", "ttl": None}),
    ],
)  # fmt: skip
def test_every_value_of_an_answer_is_read(form, answer, expected):
    value = nested(dns__resource_records__an=[answer])
    assert reader.lookup(form(value))["answers"] == [expected]


def test_the_order_of_many_flat_answers_is_that_of_the_packet():
    answers = [
        {"name": "a.x", "rdatatype": "A", "class": "IN", "ttl": 1, "rdata": f"203.0.113.{n}"}
        for n in range(12)
    ]
    value = flat(nested(dns__resource_records__an=answers))
    shuffled = dict(sorted(value.items()))
    assert [a["data"] for a in reader.lookup(shuffled)["answers"]] == [
        f"203.0.113.{n}" for n in range(12)
    ]


@pytest.mark.parametrize("form", [dict, flat])
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dnstap__operation": "CLIENT_QUERY", "dns__rcode": "-"}, "query"),
        ({"dnstap__operation": "DNS_QUERY", "dns__rcode": "NOERROR"}, "query"),
        ({"dnstap__operation": "FORWARDER_RESPONSE"}, "resolver_side"),
        ({"dnstap__operation": "FORWARDER_QUERY"}, "resolver_side"),
        ({"dnstap__operation": "RESOLVER_RESPONSE"}, "resolver_side"),
        ({"dnstap__operation": "AUTH_RESPONSE"}, "resolver_side"),
        ({"dns__qclass": "CH"}, "other_class"),
        ({"dns__opcode": 4}, "other_operation"),
    ],
)
def test_what_is_no_look_up_of_a_client_is_ignored(form, changes, reason):
    assert reader.one(form(nested(**changes))).ignore == reason


def test_a_look_up_seen_as_query_and_response_is_one_row():
    query = nested(dnstap__operation="CLIENT_QUERY", dns__rcode="-")
    forwarded = nested(dnstap__operation="FORWARDER_RESPONSE")
    text = "\n".join(json.dumps(value) for value in (query, forwarded, NESTED))
    assert words(parse(PARSER, text)) == {"query": 1, "resolver_side": 1, "accepted": 1}


@pytest.mark.parametrize("form", [dict, flat])
def test_a_query_that_the_export_marks_as_unanswered_is_a_row_without_a_response(form):
    value = nested(
        dnstap__operation="CLIENT_QUERY", dns__rcode="TIMEOUT", dns__resource_records__an=[]
    )
    assert reader.lookup(form(value)) == changed(
        rcode=None, answers=None, latency_seconds=None, is_response=False
    )


@pytest.mark.parametrize("form", [dict, flat])
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dnstap__timestamp_rfc3339ns": "-"}, "no_time"),
        ({"dnstap__timestamp_rfc3339ns": ...}, "no_time"),
        ({"dnstap__timestamp_rfc3339ns": "2026-03-10"}, "no_time"),
        ({"dnstap__timestamp_rfc3339ns": 5}, "timestamp-rfc3339ns"),
        ({"dnstap__operation": ...}, "operation"),
        ({"dnstap__operation": "CLIENT"}, "operation"),
        ({"dnstap__operation": 5}, "operation"),
        ({"dns__qname": "-"}, "qname"),
        ({"dns__qname": 5}, "qname"),
        ({"dns__qname": "a" * 1_021}, "name"),
        ({"dns__qname": "é" * 600}, "name"),
        ({"dns__qtype": "A B"}, "query_type"),
        ({"dns__qtype": "X" * 100_000}, "query_type"),
        ({"dns__rcode": "-"}, "rcode"),
        ({"dns__rcode": "NOERRAR"}, "rcode"),
        ({"dns__rcode": ...}, "rcode"),
        ({"dns__id": 65_536}, "id"),
        ({"dns__id": 10**40}, "id"),
        ({"dns__id": True}, "id"),
        ({"dns__id": 1.5}, "id"),
        ({"dns__opcode": "x"}, "opcode"),
        ({"network__query_port": "70000"}, "query-port"),
        ({"network__query_ip": 5}, "query-ip"),
        ({"dnstap__latency": True}, "latency"),
        ({"dns__resource_records__an": [{"rdatatype": 5}]}, "answer"),
        ({"dns__resource_records__an": [{"rdatatype": "A B"}]}, "query_type"),
        ({"dns__resource_records__an": [{"rdatatype": "A", "ttl": "60"}]}, "answer"),
        ({"dns__resource_records__an": [{"rdatatype": "A", "rdata": True}]}, "answer"),
    ],
)
def test_a_record_that_cannot_be_kept_is_refused_with_its_reason(form, changes, reason):
    assert word(reader.one(form(nested(**changes)))) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(NESTED)[:-40], "invalid_json"),
        (json.dumps(NESTED) * 2, "invalid_json"),
        ("free text", "invalid_json"),
        (b'{"dns":"\xff"}', "invalid_json"),
        ("[" * 100_000, "too_deep"),
        ("[]", "not_an_object"),
        ("5", "not_an_object"),
        ("{}", "no_dns"),
        ('{"dns":[]}', "no_dns"),
        ('{"dns":{}}', "operation"),
        ('{"flow":{}}', "no_dns"),
        (json.dumps(nested(dnstap="x")), "operation"),
        (json.dumps(nested(dns__resource_records__an=["x"])), "answers"),
        (json.dumps(nested(dns__resource_records__an=5)), "answers"),
        (json.dumps(nested(dns__resource_records__an=[{}])), "answer"),
        (
            json.dumps(nested(dns__resource_records__an=[{"rdatatype": "A"}] * (MAX_ANSWERS + 1))),
            "answers",
        ),
    ],
)
def test_what_is_no_record_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_the_setting_states_how_extra_names_the_pod():
    form = "{/kubernetes/client-namespace}/{/kubernetes/client-pod-name}"
    assert "client_pod_name" not in reader.lookup(NESTED)
    assert reader.lookup(NESTED, record_format=form) == changed(
        client_namespace="ml", client_pod_name="train-0"
    )
    assert reader.lookup(flat(NESTED), record_format=form)["client_pod_name"] == "train-0"
    for extra in ("-/-", "-", "other", "a/b/c", "ML/x", "x" * 5_000):
        found = reader.lookup(nested(dnstap__extra=extra), record_format=form)
        assert "client_namespace" not in found
        assert "client_pod_name" not in found


@pytest.mark.parametrize(
    ("qname", "rcode", "asked"),
    [
        ("pypi.example.org.tools.svc.cluster.local", "NXDOMAIN", "pypi.example.org"),
        ("pypi.example.org.eu-west-1.compute.internal", "NXDOMAIN", "pypi.example.org"),
        ("db.tools.svc.cluster.local", "NOERROR", "db.tools.svc.cluster.local"),
    ],
)
def test_a_search_suffix_comes_off(qname, rcode, asked):
    value = nested(dns__qname=qname, dns__rcode=rcode, dns__resource_records__an=[])
    assert reader.asked(value) == (asked, qname)


@pytest.mark.parametrize("form", [dict, flat])
def test_times_are_read_whatever_their_form(form):
    reader.check_times(lambda text: form(nested(dnstap__timestamp_rfc3339ns=text)))


def test_the_first_versions_had_values_elsewhere():
    value = nested(
        dns__operation="CLIENT_RESPONSE",
        dns__latency="0.000613",
        timestamp_rfc3339ns="2026-03-10T03:01:59.500613639Z",
        identity="coredns-7d8f",
        dnstap=...,
    )
    assert reader.lookup(value) == LOOKUP
    assert PARSER.recognise(json.dumps(value).encode()).score == 3


@pytest.mark.parametrize("form", [dict, flat])
@pytest.mark.parametrize("mark", [True, 1])
def test_answers_of_a_message_that_was_not_decoded_to_its_end_are_unknown(form, mark):
    value = form(nested(dns__malformed_packet=mark))
    assert reader.lookup(value) == changed(answers=None)


def test_a_cname_to_the_asked_name_proves_an_expansion():
    qname = "huggingface.co.team-a.svc.cluster.local"
    alias = {"name": qname, "rdatatype": "CNAME", "ttl": 5, "rdata": "huggingface.co"}
    found = reader.lookup(nested(dns__qname=qname, dns__resource_records__an=[alias]))
    assert found["query_name"] == "huggingface.co"


def test_the_id_of_a_record_is_the_whole_record():
    ids = [reader.row(r)["record_id"] for r in (NESTED, json.dumps(NESTED) + " ")]
    assert ids[0] == ids[1]
    assert reader.row(nested(dns__id=17_758))["record_id"] != ids[0]


def test_a_secret_in_a_record_is_not_stored():
    value = nested(
        dns__qname="x.akiaiosfodnn7example.example.com",
        dnstap__extra="token=FAKE-extra-EXAMPLE",
        dns__resource_records__an=[
            {"name": "x", "rdatatype": "TXT", "ttl": 1, "rdata": "password=FAKE-txt-EXAMPLE"}
        ],
    )
    kept = written([reader.one(value), reader.one(json.dumps(value)[:-5])])
    assert "FAKE" not in kept
    assert "akiaios" not in kept
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    assert broken.reject is not None
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(NESTED) + "\n", 3),
        (json.dumps(NESTED)[:1_000], 3),
        (json.dumps(flat(NESTED)) + "\n" + json.dumps(flat(NESTED))[:50], 3),
        (json.dumps(NESTED, indent=1), 0),
        ('{"dns":{"qname":"a"}}', 0),
        ('{"flow":{}}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_record(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_no_sample_is_taken_for_dns_collector(samples):
    assert reader.taken(samples) == set()


@pytest.mark.samples
def test_a_sample_of_another_json_format_is_refused_record_by_record(samples):
    parsed = parse_file(PARSER, samples / "dns" / "zeek_dns.elastic.jsonl")
    check_each(parsed)
    assert set(words(parsed)) == {"no_dns"}


PATHS = [
    "network", "network__query_ip", "network__query_port", "network__protocol", "dns",
    "dns__qname", "dns__qtype", "dns__rcode", "dns__id", "dns__opcode", "dns__qclass",
    "dns__resource_records", "dns__resource_records__an", "dnstap", "dnstap__operation",
    "dnstap__timestamp_rfc3339ns", "dnstap__latency", "dnstap__extra",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE, st.sampled_from([dict, flat]))
def test_any_value_anywhere_is_read_or_refused(path, new, form):
    reader.one(form(nested(**{path: new})), record_format="{/kubernetes/client-namespace}")


@given(at=st.integers(0, 3), cuts=CUTS, form=st.sampled_from([dict, flat]))
def test_damage_of_one_record_changes_no_other(at, cuts, form):
    reader.check_damage([json.dumps(form(nested(dns__id=n))) for n in range(4)], at, cuts)
