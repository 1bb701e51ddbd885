"""Inspektor Gadget trace_dns: lines of the gadget and of the built-in one, an array, one event."""

import json
from typing import Any

_COREDNS = {"kind": "pod", "name": "coredns-0", "namespace": "kube-system"}
_TRAIN = {"kind": "pod", "name": "train-0", "namespace": "ml"}
_EVENT: dict[str, Any] = {
    "timestamp": "2026-03-10T03:01:59.500613639Z",
    "timestamp_raw": 1_773_111_719_500_613_639,
    "netns_id": 4_026_532_333,
    "proc": {"comm": "python", "pid": 100, "tid": 100},
    "src": {"addr": "192.0.2.53", "version": 4, "port": 53, "proto": "UDP", "k8s": _COREDNS},
    "dst": {"addr": "192.0.2.71", "version": 4, "port": 39_745, "proto": "UDP", "k8s": _TRAIN},
    "nameserver": {"addr": "192.0.2.53", "version": 4},
    "id": "455d",
    "qr": "R",
    "qr_raw": True,
    "qtype": "A",
    "qtype_raw": 1,
    "name": "data.example.com.",
    "rcode": "Success",
    "rcode_raw": 0,
    "latency_ns": "613µs",
    "latency_ns_raw": 613_000,
    "num_answers": 2,
    "addresses": "203.0.113.31,2001:db8::5",
    "pkt_type": "HOST",
    "pkt_type_raw": 0,
    "k8s": {"node": "n1", "namespace": "ml", "podName": "train-0", "containerName": "main"},
    "runtime": {"containerName": "main", "runtimeName": "containerd"},
}
_BUILT_IN: dict[str, Any] = {
    "node": "n1",
    "namespace": "ml",
    "pod": "train-0",
    "container": "main",
    "timestamp": 1_773_111_719_500_613_639,
    "qr": "R",
    "nameserver": "192.0.2.53",
    "pktType": "HOST",
    "qtype": "A",
    "name": "data.example.com.",
    "rcode": "NoError",
    "latency": 613_000,
    "numAnswers": 1,
    "addresses": ["203.0.113.31"],
    "srcIP": "192.0.2.53",
    "dstIP": "192.0.2.71",
    "srcPort": 53,
    "dstPort": 39_745,
    "protocol": "UDP",
    "id": "455d",
}
_CHANGES: list[dict[str, Any]] = [
    {},
    {"qtype": "AAAA", "qtype_raw": 28, "addresses": "2001:db8::5", "num_answers": 1},
    {"rcode": "NameError", "rcode_raw": 3, "addresses": "", "num_answers": 0},
    {"qr": "Q", "qr_raw": False, "pkt_type": "OUTGOING", "pkt_type_raw": 4},
    {"pkt_type": "OUTGOING", "pkt_type_raw": 4},
    {"addresses": "", "num_answers": 1, "qtype": "TXT", "qtype_raw": 16},
]
_EVENTS = [_EVENT | change | {"id": f"{n:04x}"} for n, change in enumerate(_CHANGES)]
_BEFORE = [_BUILT_IN | {"id": f"{n:04x}"} for n in range(3)] + [_BUILT_IN | {"qr": "Q"}]


def _lines(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(event)}\n" for event in events).encode()


FILES: tuple[bytes, ...] = (
    _lines(_EVENTS),
    _lines(_BEFORE),
    json.dumps(_EVENTS, indent=2).encode(),
    json.dumps(_EVENT, indent=2).encode(),
)
