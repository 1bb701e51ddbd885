"""NetObserv: flows with and without DNS fields and bytes, numbers also as texts, and an array."""

import json
from typing import Any

_FLOW: dict[str, Any] = {
    "AgentIP": "198.51.100.11",
    "Bytes": 142,
    "Packets": 1,
    "Sampling": 1,
    "DnsErrno": 0,
    "DnsId": 31_319,
    "DnsFlags": 0x8180,
    "DnsFlagsResponseCode": "NoError",
    "DnsLatencyMs": 7,
    "DnsName": "data.example.com",
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
    "Etype": 2048,
    "FlowDirection": 0,
    "IfDirections": [0],
    "Interfaces": ["eth0"],
    "Proto": 17,
    "TimeFlowStartMs": 1_773_111_719_500,
    "TimeFlowEndMs": 1_773_111_719_507,
    "TimeReceived": 1_773_111_720,
}
_NO_DNS = {key: value for key, value in _FLOW.items() if not key.startswith("Dns")}
_FLOWS: list[dict[str, Any]] = [
    _FLOW,
    _FLOW | {"DnsId": 7, "DnsFlags": 0x8183, "DnsName": "pypi.example.org.cluster.local"},
    _FLOW | {"DnsId": 8, "Packets": 2, "DstAddr": "2001:db8::71"},
    _FLOW | {"DnsId": 9, "FlowDirection": "0", "SrcPort": "53"},
    _FLOW | {"DnsId": 10, "FlowDirection": 1},
    _FLOW | {"DnsId": 11, "SrcK8S_Type": "Service"},
    _FLOW | {"DnsId": 12, "DnsName": "huggingface.co.team.svc"},
    _NO_DNS,
    _NO_DNS
    | {
        "DstK8S_Type": "Node", "PktDropBytes": 12, "TimeFlowRttNs": 7_084_000, "Sampling": 50,
        "XlatDstAddr": "192.0.2.9", "XlatDstPort": 8443, "Flags": ["SYN", "ACK"], "Proto": 6,
        "SrcK8S_HostIP": "198.51.100.11", "SrcK8S_Zone": "eu-west-1a", "_HashId": "a1b2",
    },
    {key: value for key, value in _NO_DNS.items() if key != "Bytes"},
]  # fmt: skip

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(flow)}\n" for flow in _FLOWS).encode(),
    json.dumps(_FLOWS, indent=1).encode(),
)
