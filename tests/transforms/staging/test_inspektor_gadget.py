"""Inspektor Gadget trace_dns: one look-up is one row, that of the response at the client.

The lines are constructed after the gadget's source and the events that its users show.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    rows,
    stated,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.inspektor_gadget import PARSER
from transforms.staging.lookup_fields import MAX_ANSWERS
from transforms.staging.parser import RawRecord

EVENT = {
    "addresses": "203.0.113.31,203.0.113.32",
    "cwd": "",
    "dst": {
        "addr": "192.0.2.71",
        "k8s": {"kind": "pod", "labels": "run=train-0", "name": "train-0", "namespace": "ml"},
        "port": 39745,
        "proto": "UDP",
        "version": 4,
    },
    "exepath": "",
    "id": "455d",
    "k8s": {
        "containerName": "main",
        "hostnetwork": False,
        "namespace": "ml",
        "node": "node-1",
        "owner": {"kind": "Job", "name": "train"},
        "podLabels": "run=train-0",
        "podName": "train-0",
    },
    "latency_ns": "1.5ms",
    "latency_ns_raw": 1500000,
    "name": "Data.Example.com.",
    "nameserver": {"addr": "198.51.100.53", "version": 4},
    "netns_id": 4026532295,
    "num_answers": 3,
    "pkt_type": "HOST",
    "pkt_type_raw": 0,
    "proc": {"comm": "python3", "pid": 1285309, "parent": {"comm": "bash", "pid": 1}},
    "qr": "R",
    "qr_raw": True,
    "qtype": "A",
    "qtype_raw": 1,
    "ra": True,
    "rcode": "Success",
    "rcode_raw": 0,
    "rd": True,
    "runtime": {"containerId": "f840", "containerName": "main", "runtimeName": "containerd"},
    "src": {
        "addr": "198.51.100.53",
        "k8s": {"kind": "svc", "name": "kube-dns", "namespace": "kube-system"},
        "port": 53,
        "proto": "UDP",
        "version": 4,
    },
    "tc": False,
    "timestamp": "2026-03-10T03:01:59.500613639Z",
    "timestamp_raw": 1773111719500613639,
}
ANSWERS = [
    {"name": None, "type": "A", "data": "203.0.113.31", "ttl": None},
    {"name": None, "type": "A", "data": "203.0.113.32", "ttl": None},
]
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 500_613, tzinfo=UTC),
    "node": "node-1",
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "client_namespace": "ml",
    "client_pod_name": "train-0",
    "resolver_address": "198.51.100.53",
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "query_type": "A",
    "rcode": "NOERROR",
    "answers": ANSWERS,
    "latency_seconds": 0.0015,
    "is_response": True,
    "dns_message_id": 0x455D,
}
BUILT_IN = {
    "runtime": {"runtimeName": "containerd", "containerId": "f840", "containerName": "main"},
    "k8s": {"namespace": "ml", "podName": "train-0", "containerName": "main"},
    "timestamp": 1773111719500613639,
    "type": "normal",
    "mountnsid": 4026532362,
    "netnsid": 4026532295,
    "pid": 536786,
    "tid": 536835,
    "comm": "python3",
    "uid": 0,
    "gid": 0,
    "srcIP": "198.51.100.53",
    "dstIP": "192.0.2.71",
    "srcPort": 53,
    "dstPort": 39745,
    "protocol": "UDP",
    "id": "455d",
    "qr": "R",
    "nameserver": "198.51.100.53",
    "pktType": "HOST",
    "qtype": "A",
    "name": "data.example.com.",
    "rcode": "NoError",
    "latency": 1500000,
    "numAnswers": 3,
    "addresses": ["203.0.113.31", "203.0.113.32"],
}

reader = Reader(PARSER)
event = with_changes(EVENT)
built_in = with_changes(BUILT_IN)


def test_every_column_of_an_event_is_read():
    assert reader.lookup(EVENT) == LOOKUP
    assert reader.lookup(EVENT, node="other") == LOOKUP


def test_an_event_of_the_built_in_gadget_gives_the_same_row():
    assert reader.lookup(BUILT_IN, node="node-1") == LOOKUP
    flat = built_in({"k8s": ..., "node": "node-1", "namespace": "ml", "pod": "train-0"})
    assert reader.lookup(flat) == LOOKUP


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"k8s/node": ...}, {"node": None}),
        ({"dst/addr": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"dst/k8s": ...}, {}),
        ({"dst": ...},
         {"client_address": None, "client_port": None}),
        ({"dst": ..., "src": ...},
         {"client_address": None, "client_port": None, "transport": None}),
        ({"dst/port": ...}, {"client_port": None}),
        ({"dst/proto": ...}, {}),
        ({"dst/proto": "TCP"}, {"transport": "TCP"}),
        ({"nameserver": ...}, {}),
        ({"nameserver": {"addr": "2001:DB8::53"}}, {"resolver_address": "2001:db8::53"}),
        ({"nameserver": ..., "src": ...}, {"resolver_address": None}),
        ({"id": "0x1a"}, {"dns_message_id": 26}),
        ({"id": 17_757}, {"dns_message_id": 17_757}),
        ({"id": ...}, {"dns_message_id": None}),
        ({"qtype": "65", "qtype_raw": 65}, {"query_type": "HTTPS"}),
        ({"qtype": "65", "qtype_raw": ...}, {"query_type": "HTTPS"}),
        ({"qtype": "ALL", "qtype_raw": 255}, {"query_type": "ANY"}),
        ({"qtype": "ALL", "qtype_raw": ...}, {"query_type": "ANY"}),
        ({"qtype": ...}, {}),
        ({"qtype": "", "qtype_raw": 28}, {"query_type": "AAAA"}),
        ({"qtype": ..., "qtype_raw": ...}, {"query_type": None}),
        ({"rcode": "NameError"}, {"rcode": "NXDOMAIN"}),
        ({"rcode": "ServerFailure"}, {"rcode": "SERVFAIL"}),
        ({"rcode": "FormatError"}, {"rcode": "FORMERR"}),
        ({"rcode": "NotImplemented"}, {"rcode": "NOTIMP"}),
        ({"rcode": "Refused"}, {"rcode": "REFUSED"}),
        ({"rcode": "NXDomain"}, {"rcode": "NXDOMAIN"}),
        ({"rcode": "9"}, {"rcode": "NOTAUTH"}),
        ({"rcode": ..., "rcode_raw": 3}, {"rcode": "NXDOMAIN"}),
        ({"latency_ns_raw": 0}, {"latency_seconds": None}),
        ({"latency_ns_raw": -5}, {"latency_seconds": None}),
        ({"latency_ns_raw": 10**15}, {"latency_seconds": None}),
        ({"latency_ns_raw": 10**400}, {"latency_seconds": None}),
        ({"latency_ns_raw": ...}, {"latency_seconds": None}),
        ({"pkt_type": ...}, {}),
        ({"name": "x.example.org"}, dict.fromkeys(NAMES, "x.example.org")),
        ({"name": "."}, dict.fromkeys(NAMES, ".")),
        ({"name": "a b.example.org."}, dict.fromkeys(NAMES, "a\\ b.example.org")),
        ({"timestamp": 1773111719500613639}, {}),
        ({"proc": ..., "runtime": ..., "netns_id": ..., "tc": True}, {}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.lookup(event(changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("changes", "answers"),
    [
        ({"addresses": "2001:DB8:0::7"}, [("AAAA", "2001:db8::7")]),
        ({"addresses": ["203.0.113.7"]}, [("A", "203.0.113.7")]),
        ({"addresses": "192.0.2.7,,2001:db8::7,"}, [("A", "192.0.2.7"), ("AAAA", "2001:db8::7")]),
        ({"addresses": "", "num_answers": 0}, []),
        # Answers of other types are counted and not shown.
        ({"addresses": "", "num_answers": 1}, None),
        ({"addresses": ",,", "num_answers": 3}, None),
        ({"addresses": "", "num_answers": ...}, None),
        ({"addresses": ...}, None),
        ({"addresses": ..., "num_answers": 0}, None),
    ],
)  # fmt: skip
def test_answers_are_the_addresses(changes, answers):
    found = reader.lookup(event(changes)).get("answers")
    told = None if found is None else [(a["type"], a["data"]) for a in found]
    assert told == answers
    assert all(a["name"] is None and a["ttl"] is None for a in found or ())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"qr": "Q", "pkt_type": "OUTGOING", "rcode": ""}, "query"),
        ({"qr": "Q", "pkt_type": "HOST", "rcode": ""}, "query"),
        ({"pkt_type": "OUTGOING"}, "resolver_side"),
        ({"pkt_type": ..., "pkt_type_raw": 4}, "resolver_side"),
        ({"pkt_type": "OTHERHOST"}, "passing"),
        ({"pkt_type": "MULTICAST"}, "passing"),
        ({"dst/k8s/name": "train-1"}, "passing"),
        ({"dst/k8s/kind": "Pod", "dst/k8s/namespace": "other"}, "passing"),
        ({"k8s": {}, "dst/k8s": ..., "latency_ns_raw": 0}, "passing"),
        ({"k8s": ..., "dst/k8s": ..., "latency_ns_raw": ...}, "passing"),
        ({"src/port": 5353}, "multicast"),
        ({"dst/port": 5353, "qr": "Q"}, "multicast"),
        ({"name": ""}, "no_question"),
    ],
)
def test_what_is_not_the_response_at_the_client_is_ignored(changes, reason):
    assert reader.one(event(changes)).ignore == reason


def test_a_process_of_the_node_is_a_client_where_it_was_seen_to_ask():
    value = event({"k8s": {"node": "node-1"}, "dst/k8s": {"kind": "raw"}})
    expected = but(LOOKUP, {"client_namespace": None, "client_pod_name": None})
    assert reader.lookup(value) == expected
    assert reader.lookup(event({"dst/k8s/kind": "node"})) == LOOKUP


def test_a_look_up_that_is_seen_everywhere_is_one_row_per_client():
    """A pod asks CoreDNS on another node, which asks a resolver outside; both hosts see it too."""
    host = {"k8s": {}, "latency": ..., "numAnswers": ..., "addresses": ...}
    coredns = {"k8s": {"namespace": "kube-system", "podName": "coredns-0"}}
    asked = {"qr": "Q", "rcode": ..., "srcIP": "192.0.2.71", "dstIP": "192.0.2.53"}
    asked |= {"srcPort": 39745, "dstPort": 53, "latency": ..., "nameserver": "192.0.2.53"}
    answered = {"srcIP": "192.0.2.53", "nameserver": "192.0.2.53"}
    outside = {"dstIP": "192.0.2.53", "id": "6231", "dstPort": 41230}
    events = [
        built_in(asked | {"pktType": "OUTGOING"}),
        built_in(asked | host | {"pktType": "HOST"}),
        built_in(asked | coredns | {"pktType": "HOST"}),
        # What CoreDNS asks is a look-up of its own.
        built_in(outside | host | {"pktType": "HOST", "dstIP": "192.0.2.10"}),
        built_in(outside | host | {"pktType": "OUTGOING"}),
        built_in(outside | coredns),
        built_in(answered | coredns | {"pktType": "OUTGOING", "latency": ...}),
        built_in(answered | host | {"pktType": "HOST"}),
        built_in(answered | host | {"pktType": "OUTGOING"}),
        built_in(answered),
    ]
    found = parse(PARSER, "\n".join(json.dumps(value) for value in events))
    check_each(found)
    check_rows(found)
    assert [word(p) for p in found] == [
        "query", "query", "query", "passing", "resolver_side", "accepted", "resolver_side",
        "passing", "resolver_side", "accepted",
    ]  # fmt: skip
    assert [
        (r["client_pod_name"], r["client_address"], r["resolver_address"])
        for r in rows(found, "dns_lookups")
    ] == [
        ("coredns-0", "192.0.2.53", "198.51.100.53"),
        ("train-0", "192.0.2.71", "192.0.2.53"),
    ]


@pytest.mark.parametrize(
    ("name", "rcode", "asked"),
    [
        ("pypi.example.org.ml.svc.cluster.local.", "NameError", "pypi.example.org"),
        ("pypi.example.org.cluster.local.", "NameError", "pypi.example.org"),
        ("db.tools.svc.cluster.local.", "Success", "db.tools.svc.cluster.local"),
    ],
)
def test_a_search_suffix_comes_off(name, rcode, asked):
    assert reader.asked(event({"name": name, "rcode": rcode})) == (asked, name[:-1])


def test_times_are_read_whatever_their_form():
    reader.check_times(lambda text: event({"timestamp": text}))
    for nanoseconds in (0, 10**17 - 1, -1, 10**30):
        # Nanoseconds since the host began to run are no time, nor those behind the year 9999.
        assert word(reader.one(event({"timestamp": nanoseconds}))) == "no_time"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"timestamp": ...}, "no_time"),
        ({"timestamp": "yesterday"}, "no_time"),
        # Nanoseconds since the host booted, which an early version wrote.
        ({"timestamp": 10931213449822}, "no_time"),
        ({"timestamp": 0}, "no_time"),
        ({"timestamp": -1}, "no_time"),
        ({"timestamp": 10**40}, "no_time"),
        ({"timestamp": 1.5}, "wrong_type"),
        ({"qr": ...}, "qr"),
        ({"qr": "X"}, "qr"),
        ({"qr": 1}, "wrong_type"),
        ({"pkt_type": "LOST"}, "pkt_type"),
        ({"pkt_type": ..., "pkt_type_raw": 9}, "pkt_type"),
        ({"pkt_type": ..., "pkt_type_raw": ...}, "pkt_type"),
        ({"name": ...}, "name"),
        ({"name": "a" * 1_021}, "name"),
        ({"qtype": "not a type", "qtype_raw": ...}, "query_type"),
        ({"qtype": "", "qtype_raw": 65_536}, "qtype_raw"),
        ({"rcode": "not a code"}, "rcode"),
        ({"rcode": ..., "rcode_raw": ...}, "rcode"),
        ({"rcode": ..., "rcode_raw": 4_096}, "rcode_raw"),
        ({"dst/addr": "192.0.2.999"}, "client"),
        ({"dst/port": 65_536}, "client"),
        ({"nameserver": "resolver"}, "nameserver"),
        ({"id": "no id"}, "id"),
        ({"id": 65_536}, "id"),
        ({"addresses": "203.0.113.31,x"}, "addresses"),
        ({"addresses": ["192.0.2.1"] * (MAX_ANSWERS + 1)}, "answers"),
        ({"addresses": 5}, "wrong_type"),
        ({"latency_ns_raw": "1.5ms"}, "wrong_type"),
        ({"k8s": "x"}, "wrong_type"),
    ],
)
def test_an_event_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(event(changes))) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(EVENT)[:-40], "invalid_json"),
        ("free text", "invalid_json"),
        ("5", "wrong_type"),
        ("{}", "qr"),
        ('{"flow":{}}', "qr"),
        ('{"type":"err","message":"x"}', "qr"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)
def test_what_is_no_event_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_a_reject_shows_where_its_event_breaks():
    parsed = reader.one(event({"dst/addr": "192.0.2.999"}))
    assert parsed.reject == "client: expected an IP address, got `192.0.2.999`"
    assert parsed.place is not None
    assert parsed.place.raw[parsed.place.at :].startswith(b"192.0.2.999")


def test_indented_events_behind_each_other_are_read():
    text = "\n".join(json.dumps(value, indent=2) for value in (EVENT, event({"id": "0001"})))
    found = parse(PARSER, [RawRecord("$", 0, text.encode())])
    assert [word(p) for p in found] == ["accepted", "accepted"]
    first, second = rows(found, "dns_lookups")
    assert stated(first, "record_id") == LOOKUP
    assert second["dns_message_id"] == 1


def test_the_id_of_an_event_is_the_whole_event():
    ids = {
        reader.row(value)["record_id"]
        for value in (
            EVENT,
            json.dumps(EVENT) + " ",
            event({"netns_id": 1}),
            event({"timestamp_raw": 1}),
        )
    }
    assert len(ids) == 3


def test_a_secret_in_an_event_is_not_stored():
    secret = "AKIAIOSFODNN7EXAMPLE"
    value = event(
        {
            "name": f"x.{secret}.example.com.",
            "dst/k8s": ...,
            "dst/proto": secret,
            "src/proto": secret,
            "k8s": {"node": f"n.{secret}", "namespace": f"n-{secret}", "podName": f"p-{secret}"},
            "proc": {"comm": "--token=FAKE-comm-EXAMPLE"},
        }
    )
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    kept = written([reader.one(value), broken, reader.one(event({"id": "FAKE-id-EXAMPLE"}))])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    assert broken.reject is not None
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(EVENT) + "\n" + json.dumps(EVENT)[:50], 3),
        (json.dumps(event({"qr": "Q"})), 3),
        (json.dumps(EVENT, indent=2) + "\n" + json.dumps(EVENT, indent=2)[:50], 3),
        (json.dumps([EVENT]), 3),
        (json.dumps(BUILT_IN), 3),
        (json.dumps(EVENT)[:60], 0),
        (json.dumps(event({"qr": 1})), 0),
        (json.dumps(event({"qr": {}})), 0),
        (json.dumps(event({"pkt_type": ..., "pkt_type_raw": ...})), 0),
        (json.dumps(event({"qtype": ...})), 0),
        (json.dumps(event({"name": ...})), 0),
        ('{"timestamp":"2026-03-10T03:01:59Z","proc":{},"k8s":{}}', 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_event(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_no_sample_is_taken_for_inspektor_gadget(samples):
    assert reader.taken(samples) == set()


PATHS = [
    *EVENT, "dst/addr", "dst/k8s", "dst/k8s/name", "dst/port", "k8s/podName", "k8s/node",
    "nameserver/addr", "src/port",
]  # fmt: skip


@given(st.sampled_from(PATHS), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(path, new):
    reader.one(event({path: new}))


@given(st.sampled_from(sorted(BUILT_IN)), ANY_VALUE)
def test_any_value_of_a_built_in_event_is_read_or_refused(path, new):
    reader.one(built_in({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_event_changes_no_other(at, cuts):
    records = lines("\n".join(json.dumps(event({"id": f"{n:04x}"})) for n in range(4)))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    check_others(parse(PARSER, records), clean, at)
