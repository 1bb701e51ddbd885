"""NetObserv's look-ups: one response is one row; united or cut values are not believed."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CUTS, parse, parse_file, rows, word, words, written
from tests.transforms.staging.lookup_rows import ANY_VALUE, NAMES, Reader, but, with_changes
from transforms.redaction import excerpt
from transforms.staging.netobserv import PARSER
from transforms.staging.parser import RawRecord

FLOW = {
    "AgentIP": "198.51.100.11",
    "Packets": 1,
    "Sampling": 1,
    "DnsErrno": 0,
    "DnsId": 31_319,
    "DnsFlags": 0x8180,
    "DnsFlagsResponseCode": "NoError",
    "DnsLatencyMs": 7,
    "DnsName": "Data.Example.com",
    "SrcAddr": "192.0.2.53",
    "SrcPort": 53,
    "SrcK8S_Name": "coredns-0",
    "SrcK8S_Namespace": "kube-system",
    "SrcK8S_Type": "Pod",
    "SrcK8S_HostName": "n2",
    "DstAddr": "192.0.2.71",
    "DstPort": 39_745,
    "DstK8S_Name": "train-0",
    "DstK8S_Namespace": "ml",
    "DstK8S_Type": "Pod",
    "DstK8S_HostName": "n1",
    "DstK8S_OwnerName": "train",
    "Etype": 2048,
    "FlowDirection": 0,
    "IfDirections": [0],
    "Interfaces": ["eth0"],
    "Proto": 17,
    "TimeFlowStartMs": 1_773_111_719_500,
    "TimeFlowEndMs": 1_773_111_719_507,
    "TimeReceived": 1_773_111_720,
}
LOOKUP = {
    "event_at": datetime(2026, 3, 10, 3, 1, 59, 507_000, tzinfo=UTC),
    "node": "n1",
    "client_address": "192.0.2.71",
    "client_port": 39_745,
    "client_namespace": "ml",
    "client_pod_name": "train-0",
    "resolver_address": "192.0.2.53",
    "transport": "UDP",
    "query_name": "data.example.com",
    "original_query_name": "data.example.com",
    "rcode": "NOERROR",
    "latency_seconds": 0.007,
    "is_response": True,
    "dns_message_id": 31_319,
}
UNITED = {"latency_seconds": None, "dns_message_id": None}
NO_POD = {"client_namespace": None, "client_pod_name": None}

reader = Reader(PARSER)
flow = with_changes(FLOW)


def test_every_column_of_a_flow_is_read():
    assert reader.lookup(FLOW) == LOOKUP
    assert reader.lookup([FLOW], node="other") == LOOKUP
    assert reader.lookup(flow({"DstK8S_HostName": ...}), node="n3") == LOOKUP | {"node": "n3"}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        # Labels of a log store are texts.
        ({"FlowDirection": "0", "SrcPort": "53", "TimeFlowEndMs": "1773111719507"}, {}),
        ({"FlowDirection": 2}, {}),
        ({"FlowDirection": ...}, {}),
        ({"_RecordType": "flowLog"}, {}),
        ({"Duplicate": False}, {}),
        ({"Proto": 6}, {"transport": "TCP"}),
        ({"Proto": ...}, {"transport": None}),
        ({"DstAddr": "2001:DB8::1"}, {"client_address": "2001:db8::1"}),
        ({"DstAddr": ...}, {"client_address": None}),
        ({"DstPort": ...}, {"client_port": None}),
        ({"SrcAddr": ...}, {"resolver_address": None}),
        ({"DstK8S_Type": "Node"}, NO_POD),
        ({"DstK8S_Type": ...}, NO_POD),
        ({"DnsLatencyMs": 0}, {"latency_seconds": 0.0}),
        ({"DnsLatencyMs": ...}, {"latency_seconds": None}),
        ({"DnsLatencyMs": -3}, {"latency_seconds": None}),
        ({"DnsLatencyMs": 10**12}, {"latency_seconds": None}),
        ({"DnsFlags": ...}, {}),
        ({"DnsFlags": ..., "DnsFlagsResponseCode": ...}, {"rcode": None}),
        ({"DnsFlags": ..., "DnsFlagsResponseCode": "UnDefined"}, {"rcode": None}),
        ({"DnsId": ..., "DnsFlags": ...}, {"dns_message_id": None}),
        ({"TimeFlowEndMs": 0}, {"event_at": datetime(1970, 1, 1, tzinfo=UTC)}),
        (
            {"TimeFlowEndMs": 253_402_300_799_999},
            {"event_at": datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)},
        ),
        ({"TimeFlowEndMs": 1.773111719507e12}, {}),
    ],
)
def test_every_optional_value_is_read(changes, fields):
    assert reader.lookup(flow(changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        # Bits of several responses may make a code that none had; all bits off is NOERROR of all.
        ({"Packets": 2}, UNITED),
        ({"Packets": ...}, UNITED),
        ({"Packets": 2, "DnsFlags": 0x8183}, UNITED | {"rcode": None}),
        # A code of what may be the beginning of a longer name is not that of the name.
        ({"DnsFlags": 0x8183}, {"rcode": None}),
        ({"DnsFlags": 0x8182}, {"rcode": None}),
    ],
)
def test_what_may_be_of_another_response_is_null(changes, fields):
    assert reader.lookup(flow(changes)) == but(LOOKUP, fields)


@pytest.mark.parametrize(
    ("name", "flags", "asked", "rcode"),
    [
        ("db.tools.svc.cluster.local", 0x8180, "db.tools.svc.cluster.local", "NOERROR"),
        ("x.co.ml.svc.cluster.local", 0x8183, "x.co", "NXDOMAIN"),
        ("pypi.example.org.cluster.local", 0x8183, "pypi.example.org", "NXDOMAIN"),
        ("cas-bridge.xethub.hf.co", 0x8180, "cas-bridge.xethub.hf.co", "NOERROR"),
    ],
)
def test_a_name_that_ends_as_names_do_is_believed(name, flags, asked, rcode):
    found = reader.lookup(flow({"DnsName": name, "DnsFlags": flags}))
    assert (found["query_name"], found["original_query_name"]) == (asked, name)
    assert found["rcode"] == rcode


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"DnsId": ..., "DnsName": ...}, "no_bytes"),
        ({"DnsId": 0, "DnsName": ...}, "no_bytes"),
        ({"DnsName": ...}, "no_name"),
        ({"DnsName": ""}, "no_name"),
        ({"DnsName": "huggingface.co.team.svc"}, "cut_name"),
        ({"DnsName": "bucket.s3.us-west-2.amazonaws"}, "cut_name"),
        ({"DnsName": "kubernetes"}, "cut_name"),
        ({"DnsName": "a" * 5_000}, "cut_name"),
        ({"FlowDirection": 1}, "resolver_side"),
        ({"FlowDirection": "1"}, "resolver_side"),
        ({"SrcK8S_Type": "Service"}, "translated"),
        ({"Duplicate": True}, "duplicate"),
        ({"_RecordType": "endConnection"}, "connection"),
        ({"DnsFlags": 0x0100}, "query"),
        ({"DnsFlags": ..., "SrcPort": 39_745, "DstPort": 53}, "query"),
    ],
)
def test_what_is_no_response_at_its_client_is_ignored(changes, reason):
    assert reader.one(flow(changes)).ignore == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"TimeFlowEndMs": ...}, "no_time"),
        ({"TimeFlowEndMs": -1}, "TimeFlowEndMs"),
        ({"TimeFlowEndMs": 253_402_300_800_000}, "TimeFlowEndMs"),
        ({"TimeFlowEndMs": 1.5}, "TimeFlowEndMs"),
        ({"TimeFlowEndMs": "2026-03-10T03:01:59Z"}, "TimeFlowEndMs"),
        ({"DstAddr": "localhost"}, "DstAddr"),
        ({"SrcAddr": "x"}, "SrcAddr"),
        ({"DstPort": 65_536}, "DstPort"),
        ({"DnsId": 65_536}, "DnsId"),
        ({"DnsId": "x"}, "DnsId"),
        ({"DnsFlags": -1}, "DnsFlags"),
        ({"FlowDirection": 3}, "FlowDirection"),
        ({"Packets": -1}, "Packets"),
        ({"Proto": 256}, "Proto"),
        ({"DnsName": 5}, "wrong_type"),
        ({"DnsName": "a" * 1_021 + ".com"}, "cut_name"),
    ],
)
def test_a_flow_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(flow(changes))) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("free text", "invalid_json"), ("{}", "no_time"), ("5", "wrong_type"),
        (json.dumps(FLOW)[:-30], "invalid_json"), ('{"x":' + "[" * 100_000, "too_deep"),
    ],
)  # fmt: skip
def test_what_is_no_flow_is_refused(text, reason):
    assert word(reader.one(text)) == reason


def test_one_look_up_that_every_node_sees_is_one_row():
    at_server = {"FlowDirection": 1}
    service = {"SrcAddr": "198.51.100.10", "SrcK8S_Type": "Service", "SrcK8S_Name": "kube-dns"}
    query = {
        "SrcAddr": "192.0.2.71", "SrcPort": 39_745, "DstAddr": "192.0.2.53", "DstPort": 53,
        "DnsId": ..., "DnsFlags": ..., "DnsName": ...,
    }  # fmt: skip
    seen = [query, at_server, service, {}]
    found = parse(PARSER, "\n".join(json.dumps(flow(changes)) for changes in seen))
    assert [word(p) for p in found] == ["no_bytes", "resolver_side", "translated", "accepted"]


def test_an_array_gives_one_result_per_flow():
    whole = json.dumps([FLOW, 5, FLOW], indent=1).encode()
    found = parse(PARSER, [RawRecord("$", 0, whole)])
    assert [(p.locator, word(p)) for p in found] == [
        ("$[0]", "accepted"), ("$[1]", "wrong_type"), ("$[2]", "accepted"),
    ]  # fmt: skip


def test_the_id_of_a_flow_is_the_whole_flow():
    ids = [reader.row(r)["record_id"] for r in (FLOW, json.dumps(FLOW) + " ")]
    assert ids[0] == ids[1]
    assert reader.row(flow({"Etype": 7}))["record_id"] != ids[0]


def test_a_secret_in_a_flow_is_not_stored():
    value = flow(
        {
            "DnsName": "x.akiaiosfodnn7example.example.com",
            "DstK8S_Name": "AKIAIOSFODNN7EXAMPLE",
            "SrcK8S_OwnerName": "token=FAKE-EXAMPLE",
        }
    )
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(value)[1:-5])
    kept = written([reader.one(value), broken, reader.one(flow({"DstAddr": "FAKE-address"}))])
    assert "FAKE" not in kept
    assert "akiaios" not in kept.lower()
    assert "FAKE" not in excerpt(broken.raw)
    assert reader.lookup(value)["query_name"] == "x.***.example.com"


@pytest.mark.parametrize("name", NAMES)
def test_names_are_escaped_as_dns_software_prints_them(name):
    assert reader.lookup(flow({"DnsName": "a b.Example.com."}))[name] == r"a\ b.example.com"


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps(FLOW) + "\n" + json.dumps(FLOW)[:50], 3),
        (json.dumps([FLOW, FLOW], indent=2)[:1_500], 3),
        (json.dumps(flow({"AgentIP": ..., "DnsName": ...})), 3),
        (json.dumps(flow({"AgentIP": ..., "SrcAddr": ...})), 0),
        (json.dumps(flow({"TimeFlowEndMs": ...})), 0),
        ("[]", 0),
        ("free text", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_flow(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_the_sample_of_flows_tells_of_no_look_up(samples):
    found = parse_file(PARSER, samples / "counters" / "netobserv_flows_nat_duplicate.jsonl")
    assert words(found) == {"accepted": 3}
    assert rows(found, "dns_lookups") == []
    assert reader.taken(samples) == {"netobserv_flows_nat_duplicate.jsonl"}


@given(st.sampled_from(sorted({*FLOW, "Duplicate", "_RecordType"})), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(key, new):
    reader.one(flow({key: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_flow_changes_no_other(at, cuts):
    reader.check_damage([json.dumps(flow({"DnsId": n + 1})) for n in range(4)], at, cuts)
