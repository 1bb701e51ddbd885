"""Hubble events for tests, as the exporter of Cilium 1.19 writes them."""

import json
from typing import Any

Json = dict[str, Any]

TIME = "2026-03-10T10:00:30.500000217Z"

FLOW: Json = {
    "time": TIME,
    "uuid": "56dced30-2f83-4c15-9370-cd7ab1e1e048",
    "emitter": {"name": "Hubble", "version": "1.19.2+g3977f6a1"},
    "verdict": "FORWARDED",
    "ethernet": {"source": "02:00:00:00:00:01", "destination": "02:00:00:00:00:02"},
    "IP": {"source": "192.0.2.11", "destination": "198.51.100.7", "ipVersion": "IPv4"},
    "l4": {
        "TCP": {
            "source_port": 41012,
            "destination_port": 443,
            "flags": {"SYN": True, "ACK": True},
        }
    },
    "source": {
        "ID": 2570,
        "identity": 54686,
        "cluster_name": "alder",
        "namespace": "ml",
        "labels": ["k8s:app=train", "k8s:io.kubernetes.pod.namespace=ml"],
        "pod_name": "train-0",
        "workloads": [{"name": "train", "kind": "Job"}],
    },
    "destination": {"identity": 16777217, "labels": ["cidr:198.51.100.0/24", "reserved:world"]},
    "Type": "L3_L4",
    "node_name": "alder/node-1.example.com",
    "node_labels": ["kubernetes.io/os=linux"],
    "destination_names": ["Storage.Example.com"],
    "event_type": {"type": 4, "sub_type": 3},
    "traffic_direction": "EGRESS",
    "trace_observation_point": "TO_STACK",
    "trace_reason": "NEW",
    "is_reply": False,
    "interface": {"index": 15, "name": "lxc3e06f27d75b"},
    "Summary": "TCP Flags: SYN, ACK",
}

DNS_RESPONSE: Json = {
    "time": "2026-03-10T10:00:31.000000001Z",
    "uuid": "c938628b-0c3a-4440-9ecd-3e3ca00d3a16",
    "verdict": "FORWARDED",
    "IP": {"source": "192.0.2.53", "destination": "192.0.2.11", "ipVersion": "IPv4"},
    "l4": {"UDP": {"source_port": 53, "destination_port": 54314}},
    "source": {"identity": 104, "namespace": "kube-system", "pod_name": "coredns-1"},
    "destination": {"ID": 2570, "identity": 54686, "namespace": "ml", "pod_name": "train-0"},
    "Type": "L7",
    "node_name": "alder/node-1.example.com",
    "l7": {
        "type": "RESPONSE",
        "dns": {
            "query": "Storage.Example.com.",
            "ips": ["198.51.100.7", "2001:DB8:0:0::7"],
            "ttl": 30,
            "cnames": ["edge.example.com."],
            "observation_source": "proxy",
            "qtypes": ["A"],
            "rrtypes": ["CNAME", "A", "AAAA"],
        },
    },
    "reply": True,
    "event_type": {"type": 129},
    "traffic_direction": "EGRESS",
    "is_reply": True,
    "Summary": 'DNS Answer "198.51.100.7" TTL: 30',
}

HTTP_RESPONSE: Json = {
    "time": "2026-03-10T10:00:32Z",
    "uuid": "d54c1e24-8985-4710-b275-b19b15aed350",
    "verdict": "FORWARDED",
    "IP": {"source": "192.0.2.80", "destination": "192.0.2.11", "ipVersion": "IPv4"},
    "l4": {"TCP": {"source_port": 80, "destination_port": 40100}},
    "source": {"identity": 9, "labels": ["reserved:world"]},
    "destination": {"identity": 54686, "namespace": "ml", "pod_name": "train-0"},
    "Type": "L7",
    "node_name": "alder/node-1.example.com",
    "l7": {
        "type": "RESPONSE",
        "latency_ns": "40100000",
        "http": {
            "code": 200,
            "method": "GET",
            "url": "http://Mirror.Example.com:8080/simple/torch/?token=x#top",
            "protocol": "HTTP/1.1",
            "headers": [{"key": "X-Request-Id", "value": "28475d93"}],
        },
    },
    "event_type": {"type": 129},
    "traffic_direction": "EGRESS",
    "is_reply": True,
}


def changed(event: Json, changes: Json) -> Json:
    """A copy of an event with values set by dotted path; the value `...` takes a key out."""
    copy: Json = json.loads(json.dumps(event))
    for path, value in changes.items():
        *parents, last = path.split(".")
        place = copy
        for key in parents:
            place = place.setdefault(key, {})
        if value is ...:
            place.pop(last, None)
        else:
            place[last] = value
    return copy


def line(payload: Json, kind: str = "flow", **envelope: Any) -> str:
    """A line; time and node are copied from the payload into the envelope, as the exporter does."""
    outer = {key: payload[key] for key in ("node_name", "time") if key in payload}
    return json.dumps({kind: payload, **outer, **envelope}, separators=(",", ":"))


def flow_line(event: Json = FLOW, **changes: Any) -> str:
    """A flow line with changed values; `__` in a name stands for a dot."""
    return line(changed(event, {k.replace("__", "."): v for k, v in changes.items()}))
