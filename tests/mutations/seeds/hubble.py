"""Hubble exports: lines of the exporter, of `hubble observe` and of the old command line, lists."""

import json
from typing import Any

TIME = "2026-03-10T10:00:{:02d}.{:06d}Z"
NODE = "alder/node-1.example.com"
Json = dict[str, Any]


def _flow(second: int, **changes: Any) -> Json:
    event = {
        "time": TIME.format(second, 500_001 + second),
        "uuid": f"56dced30-2f83-4c15-9370-cd7ab1e1e0{second:02d}",
        "emitter": {"name": "Hubble", "version": "1.19.2"},
        "verdict": "FORWARDED",
        "ethernet": {"source": "02:00:00:00:00:01", "destination": "02:00:00:00:00:02"},
        "IP": {"source": "192.0.2.11", "destination": "198.51.100.7", "ipVersion": "IPv4"},
        "l4": {
            "TCP": {"source_port": 41000 + second, "destination_port": 443, "flags": {"SYN": True}}
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
        "destination": {"identity": 16777217, "labels": ["reserved:world"]},
        "Type": "L3_L4",
        "node_name": NODE,
        "node_labels": ["kubernetes.io/os=linux"],
        "destination_names": ["storage.example.com"],
        "event_type": {"type": 4, "sub_type": 3},
        "traffic_direction": "EGRESS",
        "trace_observation_point": "TO_STACK",
        "trace_reason": "NEW",
        "is_reply": False,
        "Summary": "TCP Flags: SYN",
        **changes,
    }
    return {key: value for key, value in event.items() if value is not ...}


def _message(second: int, direction: str, **layer: Any) -> Json:
    return _flow(
        second,
        l4={"UDP": {"source_port": 53, "destination_port": 54314}},
        destination={"ID": 2570, "identity": 54686, "namespace": "ml", "pod_name": "train-0"},
        Type="L7",
        l7={"type": direction, **layer},
        is_reply=direction == "RESPONSE",
        event_type={"type": 129},
        trace_observation_point=...,
        trace_reason=...,
    )


def _line(payload: Json, kind: str = "flow") -> str:
    outer = {"node_name": NODE, "time": payload.get("time", TIME.format(40, 7))}
    return json.dumps({kind: payload, **outer}, separators=(",", ":"))


DNS = _message(
    3,
    "RESPONSE",
    dns={
        "query": "storage.example.com.",
        "ips": ["198.51.100.7", "2001:db8::7"],
        "ttl": 30,
        "cnames": ["edge.example.com."],
        "rcode": 0,
        "observation_source": "proxy",
        "qtypes": ["A"],
        "rrtypes": ["A"],
    },
)
HTTP = _message(
    4,
    "RESPONSE",
    latency_ns="40100000",
    http={
        "code": 200,
        "method": "GET",
        "url": "http://mirror.example.com/simple/torch/",
        "protocol": "HTTP/1.1",
        "headers": [{"key": "X-Request-Id", "value": "28475d93"}],
    },
)
DENIED = _flow(
    5,
    verdict="DROPPED",
    drop_reason=181,
    drop_reason_desc="POLICY_DENY",
    is_reply=...,
    egress_denied_by=[
        {"name": "deny", "namespace": "ml", "revision": "6", "kind": "CiliumNetworkPolicy"}
    ],
)
OLD = _flow(6, uuid=..., emitter=..., trace_reason=..., is_reply=..., reply=True, node_labels=...)
NUMBERED = _flow(7, verdict=2, trace_observation_point=101, traffic_direction=2, drop_reason=133)
RETINA = _flow(
    8,
    uuid=...,
    extensions={
        "@type": "type.googleapis.com/utils.RetinaMetadata",
        "bytes": 74,
        "previously_observed_bytes": 3000,
    },
)
IPCACHE = {
    "type": "IPCACHE_UPSERTED",
    "ipcache_update": {
        "cidr": "192.0.2.9/32",
        "identity": 54686,
        "namespace": "ml",
        "pod_name": "train-9",
    },
}
POLICY = {"type": "POLICY_UPDATED", "policy_update": {"revision": "6", "rule_count": "1"}}
LOST = {"source": "OBSERVER_EVENTS_QUEUE", "num_events_lost": "7", "cpu": 0}
GONE = {"state_change": "NODE_UNAVAILABLE", "node_names": [NODE]}
MASKED = {"source": {"namespace": "ml", "pod_name": "train-0"}, "destination": {}}
AGGREGATED = _flow(
    9, uuid=..., node_name=..., aggregate={"ingress_flow_count": 3, "egress_flow_count": 4}
)
FLOWS = (_flow(1), _flow(2), DNS, HTTP, DENIED, NUMBERED)


def _file(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


AZURE_ROWS: list[dict[str, Any]] = [
    {
        "TimeGenerated": f"2026-03-10T10:01:0{number}.716397550Z",
        "UUID": f"f6a3f1c2-0f3d-4a53-8a0c-0d3c8b8b1a0{number}",
        "Verdict": "FORWARDED",
        "IP": json.dumps({"source": "10.20.1.5", "destination": "10.20.1.9", "ipVersion": "IPv4"}),
        "Layer4": json.dumps({"TCP": {"source_port": 40_001, "destination_port": 443}}),
        "SourceIdentity": 56_017,
        "SourceNamespace": "ml",
        "SourcePodName": "train-0",
        "DestinationIdentity": 2,
        "FlowType": "L3_L4",
        "NodeName": "n1",
        "Reply": False,
        "EventType": json.dumps({"type": 4}),
        "TrafficDirection": "EGRESS",
        "TraceObservationPoint": "TO_STACK",
        "AdditionalFlowData": json.dumps({"SourceLabels": ["k8s:app=train"]}),
        "Type": "ContainerNetworkLog",
    }
    for number in range(8)
]

FILES: tuple[bytes, ...] = (
    _file(
        *map(_line, FLOWS),
        _line(IPCACHE, "agent_event"),
        _line(POLICY, "agent_event"),
        _line(LOST, "lost_events"),
        _line({"type": "DBG_GENERIC"}, "debug_event"),
        _line(OLD),
        _line(RETINA),
    ),
    _file(*map(_line, FLOWS), _line(GONE, "node_status"), _line(LOST, "lost_events")),
    _file(*(json.dumps(flow, separators=(",", ":")) for flow in (*FLOWS, OLD))),
    _file(
        *map(_line, FLOWS[:3]),
        json.dumps({"flow": MASKED}),
        json.dumps({"flow": AGGREGATED}),
        *(json.dumps({"flow": flow}) for flow in FLOWS[3:]),
    ),
    _file(
        'level=info msg="Starting" subsys=daemon',
        *map(_line, FLOWS[:2]),
        "I0310 10:00:30.500000       1 reflector.go:368] Caches populated",
        *map(_line, FLOWS[2:]),
        '{"level":"info","msg":"ready","subsys":"hubble"}',
    ),
    json.dumps([json.loads(_line(flow)) for flow in FLOWS]).encode(),
    _file(*map(json.dumps, AZURE_ROWS)),
)
"""Files of which each record stands in a line or in a list on one line. Documents over many lines
are in `tests/transforms/staging/hubble_variants.py`."""
