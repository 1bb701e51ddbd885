"""Bytes of NetObserv's flows: every column, what repeats by rule, and what is unknown."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import CUTS, parse_file, rows, stated, word, written
from tests.transforms.staging.lookup_rows import ANY_VALUE, but, with_changes
from tests.transforms.staging.volume_rows import VolumeReader
from transforms.redaction import excerpt
from transforms.staging.netobserv import PARSER

FLOW = {
    "AgentIP": "198.51.100.11",
    "_HashId": "a1b2c3d4",
    "_RecordType": "flowLog",
    "Bytes": 94_393,
    "Packets": 12,
    "Sampling": 50,
    "PktDropBytes": 120,
    "TimeFlowRttNs": 7_084_000,
    "SrcAddr": "192.0.2.71",
    "SrcPort": 39_745,
    "XlatSrcAddr": "198.51.100.11",
    "XlatSrcPort": 58_527,
    "SrcK8S_Name": "train-0",
    "SrcK8S_Namespace": "ml",
    "SrcK8S_Type": "Pod",
    "SrcK8S_OwnerType": "Job",
    "SrcK8S_OwnerName": "train",
    "SrcK8S_HostName": "n1",
    "SrcK8S_HostIP": "198.51.100.11",
    "SrcK8S_Zone": "eu-west-1a",
    "DstAddr": "203.0.113.7",
    "DstPort": 443,
    "XlatDstAddr": "203.0.113.7",
    "XlatDstPort": 443,
    "Etype": 2048,
    "Flags": ["SYN", "ACK"],
    "FlowDirection": 1,
    "IfDirections": [1, 0],
    "Interfaces": ["eth0", "8a5b3333dfc3787"],
    "Proto": 6,
    "TimeFlowStartMs": 1_773_111_719_500,
    "TimeFlowEndMs": 1_773_111_724_507,
    "TimeReceived": 1_773_111_725,
}
VOLUME = {
    "start_at": datetime(2026, 3, 10, 3, 1, 59, 500_000, tzinfo=UTC),
    "end_at": datetime(2026, 3, 10, 3, 2, 4, 507_000, tzinfo=UTC),
    "node": "n1",
    "flow_id": "a1b2c3d4",
    "source_address": "192.0.2.71",
    "source_port": 39_745,
    "source_xlated_address": "198.51.100.11",
    "source_xlated_port": 58_527,
    "source_namespace": "ml",
    "source_pod_name": "train-0",
    "source_workload": "Job/train",
    "source_node": "n1",
    "source_zone": "eu-west-1a",
    "destination_address": "203.0.113.7",
    "destination_port": 443,
    "transport": "TCP",
    "bytes": 94_393,
    "packets": 12,
    "dropped_bytes": 120,
    "tcp_flags": 18,
    "flow_direction": "egress",
    "interfaces": ["eth0", "8a5b3333dfc3787"],
    "round_trip_seconds": 0.007084,
    "sampling_interval": 50,
    "scaled": "raw",
    "reporter": "198.51.100.11",
    "temporality": "delta",
    "byte_layer": "frame",
}
UID = "67c629a2-d18f-451a-9d89-f65758e13e12"

reader = VolumeReader(PARSER)
flow = with_changes(FLOW)


def test_every_column_of_a_flow_is_read():
    assert reader.volume(FLOW) == VOLUME


def test_bytes_are_never_multiplied_by_the_sampling():
    for sampling in (1, 2, 50, "50"):
        found = reader.volume(flow({"Sampling": sampling}))
        assert (found["bytes"], found["sampling_interval"]) == (94_393, int(sampling))


def test_the_setting_says_whether_flows_were_sampled():
    for unit in ("flows", "packets"):
        found = reader.volume(FLOW, record_format=f"sampling={unit}")
        assert found == but(VOLUME, {"sampled_unit": unit})
    refused = reader.one(FLOW, record_format="sampling=bytes")
    assert refused.reject == (
        "record_format: expected sampling=flows or sampling=packets, got text of 14 characters"
    )


@pytest.mark.parametrize("sampling", [..., 0, None])
def test_without_a_stated_sampling_the_scale_is_unknown(sampling):
    found = reader.volume(flow({"Sampling": sampling}))
    assert found == but(VOLUME, {"sampling_interval": None, "scaled": "unknown"})


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"Bytes": "94393", "Packets": "12", "FlowDirection": "1", "SrcPort": "39745"}, {}),
        ({"Bytes": 2**63 - 1}, {"bytes": 2**63 - 1}),
        ({"Packets": ...}, {"packets": None}),
        ({"PktDropBytes": ...}, {"dropped_bytes": None}),
        ({"TimeFlowRttNs": 0}, {"round_trip_seconds": None}),
        ({"TimeFlowRttNs": 10**18}, {"round_trip_seconds": None}),
        ({"Flags": 784}, {"tcp_flags": 784}),
        ({"Flags": "16"}, {"tcp_flags": 16}),
        ({"Flags": []}, {"tcp_flags": 0}),
        ({"Flags": ["SYN_ACK", "ack"]}, {"tcp_flags": 272}),
        ({"Flags": ...}, {"tcp_flags": None}),
        ({"FlowDirection": 2}, {"flow_direction": "inner"}),
        ({"FlowDirection": ...}, {"flow_direction": None}),
        ({"_HashId": ...}, {"flow_id": None}),
        ({"Interfaces": ..., "IfDirections": ...}, {"interfaces": None}),
        ({"Interfaces": ..., "Interface": "eth7"}, {"interfaces": ["eth7"]}),
        ({"Proto": 132}, {"transport": "SCTP"}),
        ({"Proto": 58}, {"transport": "ICMPv6"}),
        ({"Proto": 89}, {"transport": "89"}),
        ({"Proto": ...}, {"transport": None}),
        ({"SrcAddr": "2001:DB8::1"}, {"source_address": "2001:db8::1"}),
        ({"SrcAddr": ...}, {"source_address": None}),
        ({"XlatSrcAddr": "192.0.2.71"}, {"source_xlated_address": None}),
        (
            {"XlatDstAddr": "192.0.2.99", "XlatDstPort": 8443},
            {"destination_xlated_address": "192.0.2.99", "destination_xlated_port": 8443},
        ),
        ({"SrcK8S_OwnerName": ...}, {"source_workload": None}),
        ({"SrcK8S_Zone": ...}, {"source_zone": None}),
        ({"SrcK8S_Type": "Node", "SrcK8S_Namespace": ...},
         {"source_pod_name": None, "source_namespace": None}),
        ({"TimeFlowEndMs": 1_773_111_719_500}, {"end_at": VOLUME["start_at"]}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.volume(flow(changes)) == but(VOLUME, fields)


def test_the_destination_has_the_same_columns():
    there = {
        "DstK8S_Name": "db-0", "DstK8S_Namespace": "data", "DstK8S_Type": "Pod",
        "DstK8S_OwnerType": "StatefulSet", "DstK8S_OwnerName": "db", "DstK8S_HostName": "n2",
        "DstK8S_HostIP": "198.51.100.12", "DstK8S_Zone": "eu-west-1b",
    }  # fmt: skip
    assert reader.volume(flow(there)) == VOLUME | {
        "destination_namespace": "data", "destination_pod_name": "db-0",
        "destination_workload": "StatefulSet/db", "destination_node": "n2",
        "destination_zone": "eu-west-1b",
    }  # fmt: skip


def test_a_pipeline_with_the_names_of_opentelemetry_tells_the_uid():
    plain = {key: ... for key in FLOW if key.startswith("SrcK8S")}
    otel = {
        "source.k8s.type": "Pod", "source.k8s.name": "train-0", "source.k8s.pod.name": "train-0",
        "source.k8s.namespace.name": "ml", "source.k8s.pod.uid": UID.upper(),
        "source.k8s.owner.type": "Job", "source.k8s.owner.name": "train",
        "source.k8s.host.name": "n1", "source.k8s.host.ip": "198.51.100.11",
        "source.k8s.zone": "eu-west-1a",
    }  # fmt: skip
    assert reader.volume(flow(plain | otel)) == VOLUME | {"source_pod_uid": UID}


@pytest.mark.parametrize(
    ("changes", "node", "reporter"),
    [
        # The agent's address is the source's node, whatever the direction says.
        ({"FlowDirection": 0}, "n1", "198.51.100.11"),
        ({"AgentIP": "198.51.100.12", "FlowDirection": 0, "DstK8S_HostName": "n2"}, "n2",
         "198.51.100.12"),
        ({"AgentIP": "198.51.100.12", "FlowDirection": 1}, "n1", "198.51.100.12"),
        ({"AgentIP": ..., "FlowDirection": 1}, "n1", "n1"),
        ({"AgentIP": ..., "FlowDirection": ...}, "n9", "n9"),
    ],
)  # fmt: skip
def test_the_node_that_reports_is_the_agents(changes, node, reporter):
    found = reader.volume(flow(changes), node="n9")
    assert (found["node"], found["reporter"]) == (node, reporter)


OUTER = {"SrcK8S_Type": "Node", "Proto": 17, "DstPort": 6081}


@pytest.mark.parametrize(
    ("changes", "repeats"),
    [
        ({}, None),
        ({"Duplicate": False}, None),
        ({"Duplicate": True}, "interface"),
        ({"Duplicate": "true"}, "interface"),
        ({"DstK8S_Type": "Service"}, "service"),
        ({"DstSubnetLabel": "Services"}, "service"),
        ({"SrcK8S_Type": "Service"}, "service"),
        ({"DstSubnetLabel": "Machines"}, None),
        (OUTER, "overlay"),
        (OUTER | {"DstPort": 4789}, "overlay"),
        (OUTER | {"DstPort": 8472}, "overlay"),
        (OUTER | {"DstPort": 4790}, None),
        (OUTER | {"Proto": 6}, None),
        (OUTER | {"SrcK8S_Type": "Pod"}, None),
    ],
)
def test_what_stands_in_another_record_by_rule_says_so(changes, repeats):
    assert reader.volume(flow(changes)).get("repeats") == repeats


def test_values_never_decide_temporality_and_the_setting_does():
    for octets in (1, 2**62):
        assert reader.volume(flow({"Bytes": octets}))["temporality"] == "delta"
    assert reader.volume(FLOW, temporality="cumulative")["temporality"] == "cumulative"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        # The agent leaves out what is 0.
        ({"Bytes": ...}, "no_bytes"),
        ({"Bytes": 0}, "no_bytes"),
        ({"_RecordType": "endConnection"}, "connection"),
        ({"_RecordType": "heartbeat"}, "connection"),
    ],
)
def test_what_is_no_volume_is_ignored(changes, reason):
    assert reader.one(flow(changes)).ignore == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"Bytes": -1}, "Bytes"),
        ({"Bytes": 2**63}, "Bytes"),
        ({"Bytes": 1.5}, "Bytes"),
        ({"Bytes": "many"}, "Bytes"),
        ({"Packets": -1}, "Packets"),
        ({"Sampling": -1}, "Sampling"),
        ({"PktDropBytes": "x"}, "PktDropBytes"),
        ({"TimeFlowStartMs": ...}, "no_time"),
        ({"TimeFlowEndMs": ...}, "no_time"),
        ({"TimeFlowStartMs": 1_773_111_724_508}, "interval"),
        ({"TimeFlowStartMs": 1_773_108_124_506}, "interval"),
        ({"TimeFlowStartMs": 10**15}, "TimeFlowStartMs"),
        ({"SrcAddr": "x"}, "SrcAddr"),
        ({"XlatSrcAddr": "x"}, "XlatSrcAddr"),
        ({"AgentIP": "x"}, "AgentIP"),
        ({"SrcK8S_HostIP": "x"}, "HostIP"),
        ({"SrcPort": 65_536}, "SrcPort"),
        ({"Proto": 256}, "Proto"),
        ({"Flags": ["SIN"]}, "Flags"),
        ({"Flags": -1}, "Flags"),
        ({"FlowDirection": 3}, "FlowDirection"),
        ({"Interfaces": [5]}, "wrong_type"),
        ({"SrcK8S_Name": 5}, "wrong_type"),
        ({"Bytes": {}}, "wrong_type"),
    ],
)
def test_a_flow_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(flow(changes))) == reason


def test_a_response_with_bytes_fills_both_tables_under_one_id():
    parsed = reader.one(
        flow(
            {
                "DnsId": 7, "DnsFlags": 0x8180, "DnsName": "data.example.com", "Packets": 1,
                "SrcPort": 53, "Proto": 17, "FlowDirection": 0, "DnsLatencyMs": 7,
            }
        )
    )  # fmt: skip
    assert [table for table, _ in parsed.rows] == ["dns_lookups", "volume_records"]
    assert len({row["record_id"] for _, row in parsed.rows}) == 1


def test_a_secret_in_a_flow_is_not_stored():
    hidden = "AKIAIOSFODNN7EXAMPLE"
    value = flow(
        {
            "SrcK8S_Name": hidden, "SrcK8S_Namespace": hidden, "SrcK8S_OwnerName": hidden,
            "SrcK8S_HostName": hidden, "SrcK8S_Zone": hidden, "_HashId": hidden,
            "Interfaces": [hidden], "DstMac": "FAKE-not-read",
        }
    )  # fmt: skip
    kept = written([reader.one(value), reader.one(flow({"SrcAddr": "FAKE-address"}))])
    assert hidden not in kept
    assert "FAKE" not in kept
    broken = reader.one('{"token":"FAKE-broken-EXAMPLE",' + json.dumps(FLOW)[1:-5])
    assert "FAKE" not in excerpt(broken.raw)


@pytest.mark.samples
def test_the_sample_states_what_its_flows_are(samples):
    path = samples / "counters" / "netobserv_flows_nat_duplicate.jsonl"
    outer, inner, service = rows(parse_file(PARSER, path), "volume_records")
    assert stated(outer, "record_id") == {
        "start_at": datetime(2026, 8, 11, 14, 54, 37, 387_000, tzinfo=UTC),
        "end_at": datetime(2026, 8, 11, 14, 54, 37, 418_000, tzinfo=UTC),
        "node": "ip-10-0-1-92.ec2.internal",
        "source_address": "10.0.1.92",
        "source_port": 58_527,
        "source_workload": "Node/ip-10-0-1-92.ec2.internal",
        "source_node": "ip-10-0-1-92.ec2.internal",
        "source_zone": "us-east-1d",
        "destination_address": "10.0.1.56",
        "destination_port": 443,
        "transport": "TCP",
        "bytes": 849,
        "packets": 9,
        "dropped_bytes": 723,
        "tcp_flags": 16,
        "flow_direction": "egress",
        "interfaces": ["ens5", "br-ex"],
        "sampling_interval": 1,
        "scaled": "raw",
        "reporter": "10.0.1.92",
        "temporality": "delta",
        "byte_layer": "frame",
    }
    assert (inner["source_pod_name"], inner["bytes"], inner["repeats"]) == (
        "control-plane-metrics-forwarder-58479bb4c9-kmvft", 849, None,
    )  # fmt: skip
    assert (inner["source_xlated_address"], inner["source_xlated_port"]) == ("10.0.1.92", 58_527)
    assert (inner["destination_xlated_address"], inner["destination_xlated_port"]) == (None, None)
    assert (service["bytes"], service["repeats"], service["round_trip_seconds"]) == (
        318_420, "service", 0.007084,
    )  # fmt: skip


@given(st.sampled_from(sorted(FLOW)), ANY_VALUE)
def test_any_value_anywhere_is_read_or_refused(key, new):
    reader.one(flow({key: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_flow_changes_no_other(at, cuts):
    reader.check_damage([json.dumps(flow({"Bytes": n + 1})) for n in range(4)], at, cuts)
