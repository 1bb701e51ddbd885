"""Flows of Azure over midnight, from files of single hours to days that are built alone."""

import json
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl

from pipelines.run import Workspace, build_table_of_day, land_days

SETTINGS = """\
lake: lake
catalog: podledger.duckdb
workers: 1
clusters: {oak: {}}
exports:
  - {name: flows, format: azure_flow_log, path: "exports/{cluster}/%Y-%m-%d/%H/*.json"}
"""
FIRST = datetime(2026, 3, 10, tzinfo=UTC)
TUPLES = (
    (timedelta(hours=23, minutes=2), "B", 0),
    (timedelta(hours=23, minutes=7), "C", 100),
    (timedelta(hours=23, minutes=50), "C", 400),
    (timedelta(hours=24, minutes=30), "C", 800),
    (timedelta(hours=26, minutes=30), "C", 1_200),
    (timedelta(hours=26, minutes=33), "E", 5),
)
"""When each was written, its state, bytes sent."""


def write(folder: Path) -> Path:
    """One flow as two rule lists tell it, the second a second later."""
    hours: dict[datetime, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for late, rules in enumerate("ab"):
        for after, state, sent in TUPLES:
            written = FIRST + after + timedelta(seconds=late)
            ends = "10.0.0.1,203.0.113.9,40000,443,6,O"
            numbers = "0,0,0,0" if state == "B" else f"1,{sent},0,0"
            text = f"{int(written.timestamp())}000,{ends},{state},NX,{numbers}"
            hours[written.replace(minute=0, second=0)][rules].append(text)
    for hour, lists in hours.items():
        flows = [
            {"aclID": name, "flowGroups": [{"rule": "r", "flowTuples": texts}]}
            for name, texts in lists.items()
        ]
        record = {"macAddress": "00224871C201", "flowRecords": {"flows": flows}}
        path = folder / f"exports/oak/{hour:%Y-%m-%d}/{hour:%H}/PT1H.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"records": [record]}), encoding="utf-8")
    settings = folder / "podledger.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return settings


def test_days_built_alone_in_any_order_have_each_byte_once(tmp_path: Path) -> None:
    """Of 800 bytes from 23:50 to 00:30 a quarter is the first day's, which did not see the rest."""
    workspace = Workspace(write(tmp_path))
    with workspace.locked():
        land_days(workspace, None)
        for day in (date(2026, 3, 11), date(2026, 3, 10)):
            for table in ("pod_intervals", "name_bindings", "peer_traffic"):
                outcomes = build_table_of_day(workspace, table, day)
                assert [outcome.problem for outcome in outcomes] == [None]
    found = pl.read_parquet(tmp_path / "lake/peer_traffic/*/*.parquet", hive_partitioning=False)
    by_day = found.group_by(pl.col("window_start_at").dt.date()).agg(pl.col("bytes").sum())
    assert dict(by_day.iter_rows()) == {
        date(2026, 3, 10): 100 + 400 + 200,
        date(2026, 3, 11): 600 + 1_200 + 5,
    }
