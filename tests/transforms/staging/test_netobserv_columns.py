"""Look-ups that NetObserv's flows tell of, by columns: beside each flow's bytes, as by rows."""

import json
from typing import Any

import pyarrow as pa

from pipelines.landing.columns import _memory as memory
from pipelines.landing.columns import json_columns
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_json_columns import check
from transforms.sql import SqlSession

ABSENT = object()
FLOW: dict[str, Any] = {
    "AgentIP": "198.51.100.25", "Bytes": 142, "Packets": 1, "Sampling": 1, "DnsId": 31319,
    "DnsFlags": 0x8180, "DnsFlagsResponseCode": "NoError", "DnsLatencyMs": 7,
    "DnsName": "data.example.com", "SrcAddr": "192.0.2.53", "SrcPort": 53,
    "SrcK8S_Name": "coredns-0", "SrcK8S_Namespace": "kube-system", "SrcK8S_Type": "Pod",
    "SrcK8S_HostName": "n2", "DstAddr": "192.0.2.71", "DstPort": 39745, "DstK8S_Name": "train-0",
    "DstK8S_Namespace": "ml", "DstK8S_Type": "Pod", "DstK8S_HostName": "n1", "FlowDirection": 0,
    "Proto": 17, "TimeFlowStartMs": 1773111719500, "TimeFlowEndMs": 1773111719507,
}  # fmt: skip
CLUSTER = "pypi.example.org.ml.svc.cluster.local"
CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"DnsName": CLUSTER, "DnsFlags": 0x8183}, {"DnsName": CLUSTER, "DnsFlags": 0x8182},
    {"DnsFlags": 0x8183}, {"Packets": 2}, {"Packets": 2, "DnsName": CLUSTER, "DnsFlags": 0x8183},
    {"Packets": ABSENT}, {"Packets": 2**60}, {"DnsFlags": 0x0100}, {"DnsFlags": 0},
    {"DnsFlags": ABSENT}, {"DnsFlags": ABSENT, "SrcPort": 5000, "DstPort": 53},
    {"DnsFlags": ABSENT, "DstPort": 53}, {"DnsFlags": ABSENT, "SrcPort": ABSENT},
    {"DnsFlags": ABSENT, "DnsFlagsResponseCode": "NXDomain", "DnsName": CLUSTER},
    {"DnsFlags": ABSENT, "DnsFlagsResponseCode": ABSENT}, {"DnsFlags": 70_000}, {"DnsFlags": "x"},
    {"DnsFlags": "33152"}, {"DnsFlags": 33152.0}, {"DnsId": 0}, {"DnsId": 0, "DnsName": ABSENT},
    {"DnsId": ABSENT}, {"DnsId": ABSENT, "DnsName": ""}, {"DnsName": ABSENT}, {"DnsName": ""},
    {"DnsName": "cut.example.c"}, {"DnsName": "x" * 1_100 + ".com"}, {"DnsName": 5},
    {"DnsName": "Data.Example.com."}, {"DnsName": "a b.example.com"}, {"DnsName": "\u00fc.com"},
    {"Duplicate": True}, {"Duplicate": "true"}, {"Duplicate": False}, {"FlowDirection": 1},
    {"FlowDirection": 2}, {"FlowDirection": 3}, {"FlowDirection": ABSENT}, {"FlowDirection": "0"},
    {"SrcK8S_Type": "Service"}, {"SrcK8S_Type": ABSENT}, {"DstK8S_Type": "Service"},
    {"DstK8S_Type": "Node"}, {"DstK8S_Type": ABSENT, "destination.k8s.type": "Pod"},
    {"destination.k8s.pod.uid": "00000001-0000-4000-8000-000000000001"},
    {"DstK8S_HostName": ABSENT}, {"DstK8S_HostIP": "x"}, {"DnsLatencyMs": 0},
    {"DnsLatencyMs": -1}, {"DnsLatencyMs": 2**40}, {"DnsLatencyMs": "7"}, {"DnsLatencyMs": 7.5},
    {"Proto": 6}, {"Proto": 1}, {"Proto": ABSENT}, {"Bytes": 0}, {"Bytes": ABSENT},
    {"_RecordType": "endConnection"}, {"TimeFlowEndMs": ABSENT}, {"DstAddr": ""}, {"DstAddr": "x"},
    {"TimeFlowEndMs": 1773111719506.0}, {"DstPort": "39745"}, {"SrcPort": 53.0},
    *({name: ABSENT for name in FLOW if name.startswith("Dns")} for _ in range(2)),
)  # fmt: skip


def lines(changes: tuple[dict[str, Any], ...]) -> list[bytes]:
    records = [FLOW | change for change in changes]
    return [
        json.dumps({k: v for k, v in record.items() if v is not ABSENT}).encode()
        for record in records
    ]


def test_flows_that_tell_of_look_ups_are_read_alike() -> None:
    check("netobserv", lines(CHANGES))
    check("netobserv", lines(CHANGES), 1_500, node="n7")


def test_a_flow_has_rows_of_both_tables() -> None:
    silent = {name: ABSENT for name in FLOW if name.startswith("Dns")}
    text = b"\n".join(lines(({}, silent, {"DnsFlags": 0x0100}, {"DnsName": CLUSTER}))) + b"\n"
    with SqlSession(threads=1) as session, memory() as scratch:
        parts = json_columns("netobserv").reader(CONTEXT, session, scratch).read(text).parts
    assert [(part.table, part.numbers.tolist()) for part in parts] == [
        ("volume_records", [0, 1, 2, 3]),
        ("dns_lookups", [0, 3]),
    ]
    flows, lookups = (part.columns for part in parts)
    assert lookups["record_id"].to_pylist() == flows["record_id"].take(pa.array([0, 3])).to_pylist()
    assert lookups["query_name"].to_pylist() == ["data.example.com", "pypi.example.org"]
    assert lookups["latency_seconds"].to_pylist() == [0.007, 0.007]
