"""Antrea's aggregator: totals and differences, both ways, are four rows that are never mixed."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import but
from tests.transforms.staging.volume_rows import VolumeReader
from transforms.staging.antrea import PARSER

HEAD = {
    "flowStartSeconds": "1773111600",
    "flowEndSeconds": "1773111719",
    "flowEndSecondsFromSourceNode": "1773111719",
    "flowEndSecondsFromDestinationNode": "1773111718",
    "flowEndReason": "2",
    "sourceIP": "192.0.2.71",
    "destinationIP": "192.0.2.80",
    "sourceTransportPort": "44752",
    "destinationTransportPort": "5201",
    "protocolIdentifier": "6",
    "packetTotalCount": "900",
    "octetTotalCount": "1000000",
    "packetDeltaCount": "300",
    "octetDeltaCount": "400000",
    "reversePacketTotalCount": "500",
    "reverseOctetTotalCount": "26000",
    "reversePacketDeltaCount": "100",
    "reverseOctetDeltaCount": "5200",
    "sourcePodName": "train-0",
    "sourcePodNamespace": "ml",
    "sourceNodeName": "n1",
    "destinationPodName": "store-0",
    "destinationPodNamespace": "data",
    "destinationNodeName": "n2",
    "destinationClusterIP": "198.51.100.10",
    "destinationServicePort": "5202",
    "destinationServicePortName": "store",
    "ingressNetworkPolicyName": "let-in",
    "ingressNetworkPolicyNamespace": "data",
    "ingressNetworkPolicyRuleName": "r1",
    "ingressNetworkPolicyRuleAction": "1",
    "ingressNetworkPolicyType": "1",
    "egressNetworkPolicyName": "",
    "egressNetworkPolicyNamespace": "",
    "egressNetworkPolicyRuleName": "",
    "egressNetworkPolicyRuleAction": "0",
    "egressNetworkPolicyType": "0",
    "tcpState": "ESTABLISHED",
    "flowType": "2",
}
LABELS = """'{"app":"train","run":"1"}','{"app":"store"}'"""
TAIL = {
    "throughput": "53333", "reverseThroughput": "693", "throughputFromSourceNode": "53333",
    "throughputFromDestinationNode": "53334", "reverseThroughputFromSourceNode": "693",
    "reverseThroughputFromDestinationNode": "694",
    "clusterUUID": "0f5d3a52-0000-4000-8000-000000000001", "timeInserted": "1773111721",
    "egressName": "", "egressIP": "", "egressNodeName": "",
}  # fmt: skip

STARTED = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)
ENDED = datetime(2026, 3, 10, 3, 1, 59, tzinfo=UTC)
REPORTED = datetime(2026, 3, 10, 3, 0, 29, tzinfo=UTC)
COMMON = {
    "end_at": ENDED, "transport": "TCP", "connection_state": "ESTABLISHED", "action": "ACCEPT",
    "scaled": "raw", "reporter": "aggregator", "byte_layer": "packet",
}  # fmt: skip
THERE = COMMON | {
    "source_address": "192.0.2.71", "source_port": 44_752, "source_pod_name": "train-0",
    "source_namespace": "ml", "source_node": "n1",
    "destination_address": "192.0.2.80", "destination_port": 5_201,
    "destination_pod_name": "store-0", "destination_namespace": "data", "destination_node": "n2",
    "destination_original_address": "198.51.100.10", "destination_original_port": 5_202,
}  # fmt: skip
BACK = COMMON | {
    "source_address": "192.0.2.80", "source_port": 5_201, "source_pod_name": "store-0",
    "source_namespace": "data", "source_node": "n2",
    "destination_address": "192.0.2.71", "destination_port": 44_752,
    "destination_pod_name": "train-0", "destination_namespace": "ml", "destination_node": "n1",
}  # fmt: skip
DELTA = {"temporality": "delta", "start_at": REPORTED}
TOTAL = {"temporality": "cumulative", "start_at": STARTED}
FOUR = [
    THERE | DELTA | {"bytes": 400_000, "packets": 300},
    BACK | DELTA | {"bytes": 5_200, "packets": 100},
    THERE | TOTAL | {"bytes": 1_000_000, "packets": 900},
    BACK | TOTAL | {"bytes": 26_000, "packets": 500},
]

reader = VolumeReader(PARSER)


def line(*, labels: str = LABELS, **changes: str) -> str:
    head, tail = ({k: changes.get(k, v) for k, v in part.items()} for part in (HEAD, TAIL))
    assert changes.keys() <= {*HEAD, *TAIL}
    return ",".join([*head.values(), labels, *tail.values()])


def test_every_column_of_a_report_is_read():
    assert reader.volumes(line()) == FOUR


def test_the_setting_chooses_the_column_and_values_never_do():
    assert reader.volumes(line(), temporality="delta") == FOUR[:2]
    assert reader.volumes(line(), temporality="cumulative") == FOUR[2:]
    whole = [row | {"temporality": "per_connection_total"} for row in FOUR[2:]]
    assert reader.volumes(line(), temporality="per_connection_total") == whole
    for octets in ("0", str(2**63 - 1)):
        found = reader.volumes(line(octetDeltaCount=octets))
        assert [row["temporality"] for row in found] == [row["temporality"] for row in FOUR]


def test_the_first_report_began_with_the_connection():
    first = {"octetDeltaCount": "1000000", "reverseOctetDeltaCount": "26000"}
    found = reader.volumes(line(**first))
    assert [row["start_at"] for row in found] == [STARTED] * 4
    assert [row["bytes"] for row in found] == [1_000_000, 26_000, 1_000_000, 26_000]
    young = reader.volumes(line(flowStartSeconds="1773111700"))
    assert young[0]["start_at"] == datetime(2026, 3, 10, 3, 1, 40, tzinfo=UTC)
    instant = reader.volumes(line(flowStartSeconds="1773111719"))
    assert {row["start_at"] for row in instant} == {ENDED}


NO_SERVICE = {"destination_original_address": None, "destination_original_port": None}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"destinationClusterIP": ""}, NO_SERVICE),
        ({"destinationClusterIP": "0.0.0.0", "destinationServicePort": "0"}, NO_SERVICE),
        ({"destinationClusterIP": "::"}, NO_SERVICE),
        ({"destinationServicePort": "0"}, {"destination_original_port": None}),
        # A release with two addresses of a service: the cluster's and the one that was asked.
        ({"destinationClusterIP": "198.51.100.10,203.0.113.5"},
         {"destination_original_address": "203.0.113.5"}),
        ({"destinationClusterIP": "198.51.100.10,"}, {}),
        ({"sourcePodName": "", "sourcePodNamespace": "", "sourceNodeName": ""},
         {"source_pod_name": None, "source_namespace": None, "source_node": None}),
        ({"destinationIP": "2001:DB8:0::1"}, {"destination_address": "2001:db8::1"}),
        ({"protocolIdentifier": "17"}, {"transport": "UDP"}),
        ({"protocolIdentifier": "1"},
         {"transport": "ICMP", "source_port": None, "destination_port": None}),
        ({"tcpState": ""}, {"connection_state": None}),
        ({"egressName": "out", "egressIP": "203.0.113.44", "egressNodeName": "n7"},
         {"source_xlated_address": "203.0.113.44"}),
        # Columns of HTTP, whose texts hold commas.
        ({"egressIP": "203.0.113.44", "egressNodeName": """http,{"0":{"a":"b","c":"d"}},n7"""},
         {"source_xlated_address": "203.0.113.44"}),
        ({"ingressNetworkPolicyRuleAction": "0"}, {"action": None}),
        ({"ingressNetworkPolicyRuleAction": "2"},
         {"action": "REJECT", "reject_reason": "data/let-in"}),
        ({"egressNetworkPolicyName": "stay", "egressNetworkPolicyRuleAction": "3",
          "ingressNetworkPolicyRuleAction": "2"},
         {"action": "REJECT", "reject_reason": "stay"}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    found = reader.volumes(line(**changes))
    assert found[0] == but(FOUR[0], fields)
    assert found[2] == but(FOUR[2], fields)


def test_an_older_release_ends_with_the_time():
    text = line().rsplit(",", 3)[0]
    assert reader.volumes(text) == FOUR


def test_labels_may_be_empty_and_hold_what_they_like():
    assert reader.volumes(line(labels="'',''")) == FOUR
    assert reader.volumes(line(labels="""'{"a":"1,2,3","b":"x"}','{}'""")) == FOUR


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"flowStartSeconds": ""}, "no_time"),
        ({"flowStartSeconds": "x"}, "flowStartSeconds"),
        ({"flowEndSeconds": "-5"}, "flowEndSeconds"),
        ({"flowEndSeconds": "1773111599"}, "interval"),
        ({"flowStartSeconds": "1"}, "interval"),
        ({"sourceIP": "x"}, "sourceIP"),
        ({"destinationIP": "1.2.3"}, "destinationIP"),
        ({"sourceTransportPort": "65536"}, "sourceTransportPort"),
        ({"protocolIdentifier": "256"}, "protocolIdentifier"),
        ({"packetDeltaCount": "x"}, "packets"),
        ({"octetDeltaCount": ""}, "octets"),
        ({"octetTotalCount": str(2**63)}, "octets"),
        ({"reverseOctetTotalCount": "-1"}, "octets"),
        ({"destinationClusterIP": "x"}, "destinationClusterIP"),
        ({"destinationServicePort": "x"}, "destinationServicePort"),
        ({"ingressNetworkPolicyRuleAction": "4"}, "policy_action"),
        ({"egressIP": "x"}, "egressIP"),
        ({"labels": "{},{}"}, "field_count"),
        ({"labels": "''"}, "field_count"),
        ({"tcpState": "A,B,C"}, "field_count"),
    ],
)
def test_a_line_that_cannot_be_kept_is_refused_with_its_reason(changes, reason):
    assert word(reader.one(line(**changes))) == reason


def test_what_is_no_report_is_refused():
    for text in ("free text", line()[:200], line().rsplit(",", 5)[0], "{}", "\0"):
        assert word(reader.one(text)) == "field_count", text
    assert word(reader.one(line(labels=f"'{'x' * 300_000}',''"))) == "unreadable_line"


LOGGED = (
    "1773111600,1773111719,192.0.2.71,192.0.2.80,44752,5201,TCP,train-0,ml,n1,store-0,data,n2,"
    "198.51.100.10,5202,store,let-in,data,r1,Allow,K8sNetworkPolicy,,,,,,,,"
)


def test_lines_of_the_flow_logger_have_no_bytes():
    assert reader.one(LOGGED).ignore == "no_bytes"


def test_rows_of_a_line_have_the_id_of_the_line():
    first, again, other = (
        {row["record_id"] for row in rows([reader.one(text)], "volume_records")}
        for text in (line(), line(), line(timeInserted="1773111722"))
    )
    assert len(first) == 1
    assert first == again
    assert first != other


def test_a_secret_in_a_line_is_not_stored():
    hidden = "AKIAIOSFODNN7EXAMPLE"
    names = ("sourcePodName", "destinationPodName", "sourceNodeName", "tcpState",
             "sourcePodNamespace", "destinationPodNamespace", "destinationNodeName",
             "ingressNetworkPolicyName", "destinationServicePortName", "egressName")  # fmt: skip
    denied = {"ingressNetworkPolicyRuleAction": "2", "egressNodeName": hidden}
    text = line(labels=f"""'{{"k":"{hidden}"}}',''""", **dict.fromkeys(names, hidden), **denied)
    kept = written([reader.one(text), reader.one(line(sourceIP="FAKE-address"))])
    assert hidden not in kept
    assert "FAKE" not in kept


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (line() + "\n" + line()[:60], 2),
        ("\n" + line()[:900], 2),
        (LOGGED, 2),
        ("1773111600,1773111719,192.0.2.71", 0),
        (line(sourceIP="x"), 0),
        (line(octetTotalCount="x"), 0),
        ("", 0),
        ("a,b,c,d,e,f,g,h,i", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_line(head, score):
    assert PARSER.recognise(head.encode()).score == score


@pytest.mark.samples
def test_the_samples_state_what_their_reports_are(samples):
    found = parse_file(PARSER, samples / "counters" / "antrea_flowaggregator_s3.csv")
    four, six = (
        [stated(row, "record_id") for row in rows([record], "volume_records")] for record in found
    )
    there = {
        "start_at": datetime(2021, 11, 23, 22, 36, 1, tzinfo=UTC),
        "end_at": datetime(2021, 11, 23, 22, 36, 13, tzinfo=UTC),
        "source_address": "10.10.0.79", "source_port": 44_752,
        "source_pod_name": "perftest-a", "source_namespace": "antrea-test",
        "source_node": "k8s-node-control-plane", "source_xlated_address": "172.18.0.1",
        "destination_address": "10.10.0.80", "destination_port": 5_201,
        "destination_pod_name": "perftest-b", "destination_namespace": "antrea-test-b",
        "destination_node": "k8s-node-control-plane-b",
        "destination_original_address": "10.10.2.10", "destination_original_port": 5_202,
        "transport": "TCP", "connection_state": "TIME_WAIT", "action": "REJECT",
        "reject_reason": "antrea-test-ns/test-flow-aggregator-networkpolicy-ingress-allow",
        "bytes": 8_982_624_938, "packets": 241_333, "temporality": "delta", "scaled": "raw",
        "reporter": "aggregator", "byte_layer": "packet",
    }  # fmt: skip
    assert four[0] == there
    total = {"bytes": 30_472_817_041, "packets": 823_188, "temporality": "cumulative"}
    assert four[2] == there | total
    assert [(row["bytes"], row["packets"]) for row in four] == [
        (8_982_624_938, 241_333), (7_083_284, 136_211), (30_472_817_041, 823_188),
        (24_500_996, 471_111),
    ]  # fmt: skip
    assert six[0] == there | {
        "source_address": "2001:0:3238:dfe1:63::fefb",
        "source_xlated_address": "2001:0:3238:dfe1::ac12:1",
        "destination_address": "2001:0:3238:dfe1:63::fefc",
        "destination_original_address": "2001:0:3238:dfe1:65::a",
    }
    log = parse_file(PARSER, samples / "counters" / "antrea_flowaggregator_flowlog.csv")
    assert words(log) == {"no_bytes": 2}


@given(st.sampled_from(sorted(HEAD)), st.text(max_size=8))
def test_any_text_anywhere_is_read_or_refused(name, new):
    [parsed] = parse(PARSER, line(**{name: new.replace("\n", " ").replace("\r", " ")}))
    assert parsed.reject or parsed.rows or parsed.ignore


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_line_changes_no_other(at, cuts):
    reader.check_damage([line(packetDeltaCount=str(n)) for n in range(4)], at, cuts)
