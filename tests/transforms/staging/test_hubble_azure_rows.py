"""Rows of AKS' container network logs give what the flows gave that filled them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.landing.detection import Detected, detect
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_json_columns import ANY_JSON, replaced
from transforms.staging.hubble import PARSER
from transforms.staging.parser import Parsed, RawRecord

FLOW: dict[str, Any] = {
    "time": "2026-03-10T12:00:01.716397550Z",
    "uuid": "f6a3f1c2-0f3d-4a53-8a0c-0d3c8b8b1a01",
    "verdict": "DROPPED",
    "drop_reason_desc": "POLICY_DENIED",
    "IP": {"source": "192.0.2.31", "destination": "203.0.113.7", "ipVersion": "IPv4"},
    "l4": {"TCP": {"source_port": 40_001, "destination_port": 443, "flags": {"SYN": True}}},
    "source": {
        "identity": 56_017,
        "cluster_name": "alder",
        "namespace": "ml",
        "pod_name": "train-0",
        "labels": ["k8s:app=train"],
        "workloads": [{"name": "train", "kind": "StatefulSet"}],
    },
    "destination": {"identity": 2, "labels": ["reserved:world"]},
    "Type": "L3_L4",
    "node_name": "n1",
    "event_type": {"type": 1, "sub_type": 133},
    "traffic_direction": "EGRESS",
    "is_reply": False,
    "egress_denied_by": [{"name": "default-deny", "namespace": "ml", "kind": "NetworkPolicy"}],
    "Summary": "TCP Flags: SYN",
}
ANSWER: dict[str, Any] = {
    "time": "2026-03-10T12:00:02Z",
    "uuid": "f6a3f1c2-0f3d-4a53-8a0c-0d3c8b8b1a02",
    "verdict": "FORWARDED",
    "IP": {"source": "192.0.2.53", "destination": "192.0.2.31", "ipVersion": "IPv4"},
    "l4": {"UDP": {"source_port": 53, "destination_port": 40_002}},
    "source": {"identity": 5, "namespace": "kube-system", "pod_name": "coredns-0"},
    "destination": {"identity": 56_017, "namespace": "ml", "pod_name": "train-0"},
    "Type": "L7",
    "node_name": "n1",
    "l7": {
        "type": "RESPONSE",
        "dns": {"query": "data.example.com.", "ips": ["203.0.113.7"], "ttl": 30, "qtypes": ["A"]},
    },
    "is_reply": True,
    "event_type": {"type": 129},
    "traffic_direction": "EGRESS",
    "source_service": {"name": "kube-dns", "namespace": "kube-system"},
}
COUNTED = {
    **{key: value for key, value in FLOW.items() if key not in {"event_type", "Summary"}},
    "aggregate": {"egress_flow_count": 12},
}


def row_of(flow: dict[str, Any], *, is_text: bool = True, **more: Any) -> dict[str, Any]:
    """The row that the agent makes of a flow (its version of November 2025)."""

    def dynamic(value: Any) -> Any:
        return json.dumps(value) if is_text else value

    row = {"TenantId": "00000000-0000-0000-0000-000000000000", "SourceSystem": "Azure"}
    names = {
        "time": "TimeGenerated", "uuid": "UUID", "verdict": "Verdict",
        "drop_reason_desc": "DropReason", "Type": "FlowType", "node_name": "NodeName",
        "traffic_direction": "TrafficDirection",
    }  # fmt: skip
    row |= {column: flow[name] for name, column in names.items() if name in flow}
    parts = {"IP": "IP", "l4": "Layer4", "l7": "Layer7", "event_type": "EventType"}
    row |= {column: dynamic(flow[name]) for name, column in parts.items() if name in flow}
    for end, prefix in (("source", "Source"), ("destination", "Destination")):
        stated = flow[end]
        of_end = {
            "identity": "Identity", "cluster_name": "ClusterName", "namespace": "Namespace",
            "pod_name": "PodName",
        }  # fmt: skip
        row |= {f"{prefix}{c}": stated[name] for name, c in of_end.items() if name in stated}
        if "workloads" in stated:
            row[f"{prefix}Workloads"] = dynamic(stated["workloads"])
    row["Reply"] = flow["is_reply"]
    if "source_service" in flow:
        service = flow["source_service"]
        row["Service"] = dynamic(
            {"SourceService": service["name"], "SourceServiceNamespace": service["namespace"]}
        )
    if "egress_denied_by" in flow:
        row["Policies"] = dynamic({"egress_denied_by": dynamic(flow["egress_denied_by"])})
    if "aggregate" in flow:
        row["EgressFlowCount"] = flow["aggregate"]["egress_flow_count"]
    labels = {
        f"{prefix}Labels": flow[end]["labels"]
        for end, prefix in (("source", "Source"), ("destination", "Destination"))
        if "labels" in flow[end]
    }
    if labels or "Summary" in flow:
        row["AdditionalFlowData"] = dynamic({**labels, "Summary": flow.get("Summary")})
    return row | more


def parsed(*values: Any) -> list[Parsed]:
    raws = (RawRecord(f"line {n}", n, json.dumps(v).encode()) for n, v in enumerate(values, 1))
    return list(PARSER.parse(raws, CONTEXT))


def rows(value: Any) -> list[tuple[str, dict[str, Any]]]:
    (found,) = parsed(value)
    assert found.reject is None
    return [(table, dict(values)) for table, values in found.rows]


def test_every_column_of_a_row_is_read() -> None:
    ((table, found),) = rows(row_of(FLOW))
    assert table == "flows"
    stated = {name: value for name, value in found.items() if value is not None}
    assert stated == {
        "record_id": "f6a3f1c2-0f3d-4a53-8a0c-0d3c8b8b1a01",
        "uuid": "f6a3f1c2-0f3d-4a53-8a0c-0d3c8b8b1a01",
        "event_at": datetime(2026, 3, 10, 12, 0, 1, 716_397, UTC),
        "node": "n1",
        "verdict": "DROPPED",
        "drop_reason": "POLICY_DENIED",
        "direction": "EGRESS",
        "is_reply": False,
        "is_masked": False,
        "event_type": 1,
        "event_sub_type": 133,
        "transport": "TCP",
        "source_address": "192.0.2.31",
        "source_port": 40_001,
        "source_identity": 56_017,
        "source_namespace": "ml",
        "source_pod_name": "train-0",
        "source_labels": ["k8s:app=train"],
        "source_workload": "StatefulSet/train",
        "destination_address": "203.0.113.7",
        "destination_port": 443,
        "destination_identity": 2,
        "destination_labels": ["reserved:world"],
        "tcp_flags": "SYN",
        "denied_by": ["NetworkPolicy/ml/default-deny"],
    }


@pytest.mark.parametrize("flow", [FLOW, ANSWER, COUNTED], ids=["flow", "answer", "counted"])
@pytest.mark.parametrize("is_text", [True, False])
def test_a_row_gives_what_its_flow_gives(flow: dict[str, Any], is_text: bool) -> None:
    expected = rows({"flow": flow, "node_name": "n1"})
    assert rows(row_of(flow, is_text=is_text)) == expected
    text = {"SourceIdentity": str(flow["source"]["identity"]), "Reply": str(flow["is_reply"])}
    assert rows(row_of(flow, **text, TableName="PrimaryResult")) == expected


def test_the_first_version_writes_what_it_does_not_know_as_empty() -> None:
    empty = {
        "DropReason": "", "SourceClusterName": "", "DestinationNamespace": "", "Layer7": "",
        "DestinationPodName": "", "TraceObservationPoint": "", "Service": '{"SourceService":""}',
        "DestinationIdentity": 0, "SourceWorkloads": '["reserved:world"]', "PacketsSent": 0,
        "Policies": '{"egress_allowed_by":null}',
        "AdditionalFlowData": '{"EthernetSource":"","SourceLabels":null,"Extensions":null}',
    }  # fmt: skip
    ((_, found),) = rows(row_of(FLOW, **empty))
    for name in ("drop_reason", "destination_namespace", "l7_type", "destination_identity"):
        assert found.get(name) is None, name
    assert found["source_workload"] is None
    assert found["source_labels"] is None
    assert found["verdict"] == "DROPPED"


def test_a_column_that_is_no_json_is_named() -> None:
    (found,) = parsed(row_of(FLOW, Layer4="TCP"))
    assert found.reject == "wrong_type: expected JSON in Layer4, got other text"


def test_rows_are_recognised_and_other_tables_are_not() -> None:
    lines = "\n".join(json.dumps(row_of(flow)) for flow in (FLOW, ANSWER)).encode()
    array = json.dumps([row_of(FLOW), row_of(ANSWER)]).encode()
    for head in (lines, array):
        found = detect(head)
        assert isinstance(found, Detected)
        assert (found.parser.name, found.variant) == (
            "hubble", "rows of AKS' container network logs"
        )  # fmt: skip
    named = {"TimeGenerated": "2026-03-10T12:00:00Z", "Type": "ContainerNetworkLog"}
    assert PARSER.recognise(json.dumps(named).encode()).score == 3
    other = {"TimeGenerated": "2026-03-10T12:00:00Z", "Type": "AzureDiagnostics", "Verdict": "x"}
    assert PARSER.recognise(json.dumps(other).encode()).score == 0


def test_a_list_of_rows_gives_a_record_each() -> None:
    found = parsed([row_of(FLOW), row_of(ANSWER)])
    assert [len(each.rows) for each in found] == [1, 2]


@given(st.integers(0, 10_000), ANY_JSON, st.booleans())
def test_any_value_gives_a_record(path: int, new: Any, is_text: bool) -> None:
    value = replaced(row_of(FLOW, is_text=is_text), path, new)
    assert len(parsed(value)) == 1
