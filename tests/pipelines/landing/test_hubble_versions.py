"""Exports of Cilium 1.10 and 1.19 land in one table; what each carries is told per file."""

import json
from pathlib import Path

import polars as pl
import pytest

from pipelines.landing import parsing
from pipelines.landing.land import land
from pipelines.ledger import Ledger
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, zone
from tests.transforms.staging.hubble_events import FLOW, changed, line

SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters: {alder: {cloud: aws, region: us-east-1}}
exports:
  - {name: hubble, format: auto, clusters: [alder], path: "in/%Y-%m-%d/{node}/events*"}
"""
OLD = {
    "time": "2026-03-10T10:00:26.593860Z",
    "verdict": "FORWARDED",
    "ethernet": {"source": "02:00:00:00:00:01", "destination": "02:00:00:00:00:02"},
    "IP": {"source": "192.0.2.11", "destination": "198.51.100.7", "ipVersion": "IPv4"},
    "l4": {"TCP": {"source_port": 41012, "destination_port": 443, "flags": {"SYN": True}}},
    "source": {
        "ID": 2570,
        "identity": 54686,
        "namespace": "ml",
        "labels": ["k8s:app=train"],
        "pod_name": "train-0",
    },
    "destination": {"identity": 2, "labels": ["reserved:world"]},
    "Type": "L3_L4",
    "node_name": "alder/node-1",
    "event_type": {"type": 4, "sub_type": 3},
    "traffic_direction": "EGRESS",
    "trace_observation_point": "TO_STACK",
    "Summary": "TCP Flags: SYN",
}
"""A flow of Cilium 1.10: no uuid, no trace reason, no workload."""
OLD_DROP = changed(
    OLD,
    {
        "verdict": "DROPPED",
        "drop_reason": 133,
        "drop_reason_desc": "POLICY_DENIED",
        "event_type": {"type": 1, "sub_type": 133},
        "trace_observation_point": ...,
    },
)
NEW_DENIED = changed(
    FLOW,
    {
        "uuid": "2f9b7f0e-7b2e-4b8a-8f5f-6f1d3a9c0b11",
        "verdict": "DROPPED",
        "drop_reason": 181,
        "drop_reason_desc": "POLICY_DENY",
        "IP.source_xlated": "203.0.113.4",
        "is_reply": ...,
        "egress_denied_by": [{"name": "deny", "namespace": "ml", "kind": "CiliumNetworkPolicy"}],
    },
)
BOTH = (
    "destination_address", "destination_identity", "destination_labels", "destination_port",
    "direction", "drop_reason", "event_at", "event_sub_type", "event_type", "node",
    "observation_point", "source_address", "source_endpoint_id", "source_identity",
    "source_labels", "source_namespace", "source_pod_name", "source_port", "tcp_flags",
    "transport", "verdict",
)  # fmt: skip
NEW_ONLY = (
    "denied_by", "destination_names", "is_reply", "source_workload", "source_xlated_address",
    "trace_reason", "uuid",
)  # fmt: skip


def put(folder: Path, node: str, *lines: str) -> None:
    path = folder / "in" / "2026-03-10" / node / "events.log"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")


@pytest.mark.parametrize("columns_from", [1, 1 << 60])
def test_old_and_new_exports_land_in_one_table(tmp_path, monkeypatch, columns_from):
    monkeypatch.setattr(parsing, "COLUMNS_FROM", columns_from)
    put(tmp_path, "node-1", line(OLD), line(OLD_DROP))
    put(tmp_path, "node-2", line(FLOW), line(NEW_DENIED))
    settings = zone(tmp_path, SETTINGS)
    lake = Lake(settings.lake_path)
    report = land(settings, lake, FIRST_SEEN)
    assert report.records == {
        "record": 4, "accepted": 4, "duplicate": 0, "rejected": 0, "ignored": 0,
    }  # fmt: skip

    files = {row["node"]: row for row in Ledger.read(lake).files.to_dicts()}
    assert files["node-1"]["capabilities"] == sorted(f"flows.{name}" for name in BOTH)
    assert files["node-2"]["capabilities"] == sorted(f"flows.{name}" for name in BOTH + NEW_ONLY)

    flows = pl.read_parquet(
        tmp_path / "lake" / "flows" / "**" / "*.parquet", hive_partitioning=False
    )
    rows = flows.sort("event_at", "verdict", descending=[False, True]).to_dicts()
    assert [row["verdict"] for row in rows] == ["FORWARDED", "DROPPED", "FORWARDED", "DROPPED"]
    for row in rows[:2]:
        assert {name for name in NEW_ONLY if row[name] is not None} == set()
        assert row["node"] == "node-1"
        assert len(row["record_id"]) == 32
    assert [row["drop_reason"] for row in rows] == [None, "POLICY_DENIED", None, "POLICY_DENY"]
    assert [row["is_reply"] for row in rows] == [None, None, False, None]
    assert [row["trace_reason"] for row in rows] == [None, None, "NEW", "NEW"]
    assert [row["source_workload"] for row in rows] == [None, None, "Job/train", "Job/train"]
    assert [row["source_xlated_address"] for row in rows] == [None, None, None, "203.0.113.4"]
    assert [row["denied_by"] for row in rows[:3]] == [None, None, None]
    assert rows[3]["denied_by"] == ["CiliumNetworkPolicy/ml/deny"]
    assert rows[2]["record_id"] == rows[2]["uuid"] == FLOW["uuid"]
    assert {row["source_pod_uid"] for row in rows} == {None}


def test_what_an_export_carries_is_told_for_look_ups_and_losses_too(tmp_path):
    lost = {"source": "OBSERVER_EVENTS_QUEUE", "num_events_lost": "7"}
    since = {**lost, "first": "2026-03-10T10:00:20Z", "last": "2026-03-10T10:00:25Z"}
    envelope = {"node_name": "node-1", "time": "2026-03-10T10:00:26Z"}
    put(tmp_path, "node-1", line(lost, "lost_events", **envelope))
    put(tmp_path, "node-2", line(since, "lost_events", **envelope), json.dumps({"flow": {}}))
    settings = zone(tmp_path, SETTINGS)
    lake = Lake(settings.lake_path)
    land(settings, lake, FIRST_SEEN)
    files = {row["node"]: row["capabilities"] for row in Ledger.read(lake).files.to_dicts()}
    told = ["event_at", "lost_count", "node", "reason"]
    assert files["node-1"] == [f"loss_reports.{name}" for name in told]
    assert files["node-2"] == sorted(
        ["flows.node", *(f"loss_reports.{name}" for name in [*told, "end_at", "start_at"])]
    )
