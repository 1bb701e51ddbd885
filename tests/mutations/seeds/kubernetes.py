"""Kubernetes objects: a mixed list over many lines, watch lines, documents behind each other."""

import json

from tests.transforms.staging.kubernetes_objects import event, pod, pod_list

META = {"creationTimestamp": "2026-03-01T00:00:00Z", "namespace": "ml", "resourceVersion": "12"}
NODE = {
    "kind": "Node",
    "apiVersion": "v1",
    "metadata": {
        "name": "node-1",
        "creationTimestamp": "2026-03-01T00:00:00Z",
        "labels": {"topology.kubernetes.io/zone": "us-east-1a"},
    },
    "spec": {"providerID": "aws:///us-east-1a/i-0", "podCIDRs": ["192.0.2.0/25"]},
    "status": {
        "addresses": [{"type": "InternalIP", "address": "198.51.100.7"}],
        "allocatable": {"cpu": "4", "nvidia.com/gpu": "1"},
    },
}
SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {**META, "name": "labels", "uid": "33333333-2222-4333-8444-555555555555"},
    "spec": {
        "type": "ClusterIP",
        "clusterIPs": ["192.0.2.200"],
        "selector": {"app": "labels"},
        "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}],
    },
}
NAMESPACE = {
    "kind": "Namespace",
    "apiVersion": "v1",
    "metadata": {"name": "ml", "labels": {"team": "vision"}},
    "status": {"phase": "Active"},
}
POLICY = {
    "kind": "NetworkPolicy",
    "apiVersion": "networking.k8s.io/v1",
    "metadata": {**META, "name": "only-storage"},
    "spec": {
        "podSelector": {"matchLabels": {"app": "train"}},
        "policyTypes": ["Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "203.0.113.0/24"}}]}],
    },
}
CILIUM_POLICY = {
    "kind": "CiliumNetworkPolicy",
    "apiVersion": "cilium.io/v2",
    "metadata": {**META, "name": "dns"},
    "specs": [
        {"endpointSelector": {}, "egress": [{"toFQDNs": [{"matchName": "data.example.com"}]}]}
    ],
}
CLAIM = {
    "kind": "ResourceClaim",
    "apiVersion": "resource.k8s.io/v1",
    "metadata": {**META, "name": "train-gpus", "uid": "66666666-2222-4333-8444-555555555555"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
            ]
        }
    },
    "status": {
        "allocation": {
            "devices": {
                "results": [
                    {"request": "gpus", "driver": "gpu.nvidia.com", "pool": "n", "device": "gpu-0"}
                ]
            }
        },
        "reservedFor": [{"resource": "pods", "name": "train", "uid": "x"}],
    },
}
OTHER = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "b"}}
WATCHED = (
    {"type": "ADDED", "object": pod(status={"phase": "Pending"})},
    {"type": "MODIFIED", "object": event(count=4)},
    {"type": "DELETED", "object": pod()},
    {"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1"}},
)

FILES: tuple[bytes, ...] = (
    json.dumps(
        pod_list(
            pod(), event(), NODE, SERVICE, NAMESPACE, POLICY, CILIUM_POLICY, OTHER, kind="List"
        ),
        indent=1,
    ).encode(),
    "".join(f"{json.dumps(line)}\n" for line in WATCHED).encode(),
    "".join(
        f"{json.dumps(item)}\n" for item in (pod(), NODE, SERVICE, NAMESPACE, POLICY, CLAIM)
    ).encode(),
    "".join(f"{json.dumps(item, indent=4)}\n" for item in (pod(), pod())).encode(),
)
