import json
from typing import Any

import pytest

from tests.transforms.staging.export_text import check_rows, parse, rows, stated, word
from tests.transforms.staging.kubernetes_objects import POD_UID, document, instant, pod_list, stamp
from transforms.staging.kubernetes import PARSER


def node(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": "ip-10-20-1-11.ec2.internal",
            "uid": POD_UID,
            "resourceVersion": "12",
            "creationTimestamp": "2026-03-01T00:00:00Z",
            "labels": {
                "topology.kubernetes.io/zone": "us-east-1a",
                "topology.kubernetes.io/region": "us-east-1",
                "node.kubernetes.io/instance-type": "g5.xlarge",
            },
        },
        "spec": {
            "providerID": "aws:///us-east-1a/i-0123456789abcdef0",
            "podCIDR": "198.51.100.0/25",
            "podCIDRs": ["198.51.100.0/25", "2001:DB8:1::/64"],
        },
        "status": {
            "allocatable": {"nvidia.com/gpu": "4", "cpu": "15"},
            "addresses": [
                {"type": "InternalIP", "address": "10.20.1.11"},
                {"type": "ExternalIP", "address": "203.0.113.9"},
                {"type": "Hostname", "address": "ip-10-20-1-11.ec2.internal"},
            ],
            "conditions": [{"type": "Ready", "lastHeartbeatTime": stamp("12:00:00")}],
        },
    }
    return found | changes


def service(**spec: Any) -> dict[str, Any]:
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {
            "name": "label-service",
            "namespace": "ml",
            "uid": POD_UID,
            "resourceVersion": "13",
            "creationTimestamp": "2026-03-01T00:00:00Z",
        },
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def node_row(value: dict[str, Any]) -> dict[str, Any]:
    found = parse(PARSER, json.dumps({"type": "ADDED", "object": value}))
    check_rows(found)
    assert found[0].reject is None, found[0].reject
    return rows(found, "node_states")[0]


def service_row(value: dict[str, Any]) -> dict[str, Any]:
    found = parse(PARSER, json.dumps({"type": "ADDED", "object": value}))
    check_rows(found)
    assert found[0].reject is None, found[0].reject
    return rows(found, "services")[0]


def test_a_node_is_read_whole() -> None:
    assert stated(node_row(node()), "record_id") == {
        "observed_at": instant("12:00:00"),
        "node": "ip-10-20-1-11.ec2.internal",
        "node_uid": POD_UID,
        "zone": "us-east-1a",
        "region": "us-east-1",
        "instance_type": "g5.xlarge",
        "provider_id": "aws:///us-east-1a/i-0123456789abcdef0",
        "addresses": ["10.20.1.11", "203.0.113.9"],
        "pod_ranges": ["198.51.100.0/25", "2001:db8:1::/64"],
        "allocatable": [
            {"name": "cpu", "value": "15"}, {"name": "nvidia.com/gpu", "value": "4"},
        ],
        "labels": [
            {"name": "node.kubernetes.io/instance-type", "value": "g5.xlarge"},
            {"name": "topology.kubernetes.io/region", "value": "us-east-1"},
            {"name": "topology.kubernetes.io/zone", "value": "us-east-1a"},
        ],
        "created_at": instant("2026-03-01 00:00:00"),
    }  # fmt: skip


def test_the_older_labels_of_zone_region_and_type_are_read() -> None:
    found = node_row(
        node(
            metadata={
                "name": "n",
                "labels": {
                    "failure-domain.beta.kubernetes.io/zone": "a",
                    "failure-domain.beta.kubernetes.io/region": "b",
                    "beta.kubernetes.io/instance-type": "c",
                },
            }
        )
    )
    assert (found["zone"], found["region"], found["instance_type"]) == ("a", "b", "c")


def test_a_node_that_only_has_a_name_is_accepted() -> None:
    found = parse(PARSER, document(pod_list({"metadata": {"name": "n"}}, kind="NodeList")))
    assert stated(rows(found, "node_states")[0], "record_id") == {
        "observed_at": instant("2026-03-11 00:00:00"), "node": "n",
    }  # fmt: skip


def test_a_wrong_range_of_pods_is_a_reject() -> None:
    found = parse(PARSER, json.dumps(node(spec={"podCIDR": "everywhere"})))
    assert found[0].reject == (
        "wrong_range: expected an address range, got other text at $.spec.podCIDRs"
    )


def test_a_service_is_read_whole() -> None:
    value = service(
        type="LoadBalancer",
        clusterIP="10.96.7.7",
        clusterIPs=["10.96.7.7", "2001:DB8::7"],
        selector={"app": "label"},
        ports=[
            {"name": "http", "protocol": "TCP", "port": 80, "targetPort": "web"},
            {"port": 53, "protocol": "UDP", "targetPort": 5353},
            {"port": 9000},
        ],
    )
    value["status"] = {
        "loadBalancer": {"ingress": [{"ip": "203.0.113.80"}, {"hostname": "lb.example.com"}]}
    }
    found = service_row(value)
    assert stated(found, "record_id", "ports") == {
        "observed_at": instant("2026-03-01 00:00:00"),
        "watch_event": "ADDED",
        "namespace": "ml",
        "service": "label-service",
        "service_uid": POD_UID,
        "service_type": "LoadBalancer",
        "addresses": ["10.96.7.7", "2001:db8::7", "203.0.113.80"],
        "selector": [{"name": "app", "value": "label"}],
        "created_at": instant("2026-03-01 00:00:00"),
    }
    assert [(p["name"], p["port"], p["target_port"], p["protocol"]) for p in found["ports"]] == [
        ("http", 80, "web", "TCP"), (None, 53, "5353", "UDP"), (None, 9000, None, "TCP"),
    ]  # fmt: skip


def test_a_headless_service_has_no_address() -> None:
    assert service_row(service(clusterIP="None", clusterIPs=["None"]))["addresses"] is None


def test_an_external_name_is_kept() -> None:
    found = service_row(service(type="ExternalName", externalName="db.example.com"))
    assert (found["service_type"], found["external_name"]) == ("ExternalName", "db.example.com")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"clusterIP": "x"}, "wrong_address"),
        ({"ports": [{"port": 70_000}]}, "wrong_type"),
        ({"ports": [{"port": "80"}]}, "wrong_type"),
        ({"selector": ["a"]}, "wrong_type"),
    ],
)
def test_a_broken_service_is_refused(spec: dict[str, Any], reason: str) -> None:
    assert word(parse(PARSER, json.dumps(service(**spec)))[0]) == reason
