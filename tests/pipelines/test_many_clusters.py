"""Many clusters with eight formats each: one missing, one half late, one with a damaged file."""

import datetime as dt
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from pipelines.cli.build import BuildReport
from pipelines.ledger import Ledger
from pipelines.run import missing_deliveries
from pipelines.storage import Lake
from tests.pipelines.cli.command import Ended, podledger
from tests.pipelines.many_clusters import FORMATS, cluster_names, deliver, path_of, settings_text
from tests.pipelines.plain_build import build_all

DAY = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
"""A day that is not final by the clock: what lands later is built in."""
LATE = FORMATS[4:]
"""Formats of the cluster that delivers half of them later."""
DAMAGED = "coredns"


def run(folder: Path, command: str, *arguments: object) -> Ended:
    return podledger(command, *arguments, "--config", folder / "podledger.yaml")


def made_at(folder: Path) -> dict[tuple[str, str], int]:
    """When each file of the day was written, by table and scope."""
    lake = Lake(folder / "lake")
    return {
        (path.parent.parent.name, path.stem): path.stat().st_mtime_ns
        for path in lake.everything()
        if path.parent.name == f"date={DAY}"
    }


def connections_by_cluster(folder: Path) -> dict[str, int]:
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT cluster, COUNT(*) FROM connections GROUP BY 1")
        return dict(rows.fetchall())


@dataclass(frozen=True)
class Built:
    """How a build ended, how many files landed, and what was missing."""

    code: int
    landed: int
    missing: set[str]


def build_whole(folder: Path) -> Built:
    """All tables, by the command."""
    ended = run(folder, "build", "--json")
    assert ended.out, ended.err
    content = json.loads(ended.out)
    assert content["problems"] == []
    return Built(ended.code, content["landed_files"], set(content["missing"]))


def build_some(folder: Path) -> Built:
    """Two tables and what they are made from, by the functions that the command calls."""
    settings_file = folder / "podledger.yaml"
    before = len(Ledger.read(Lake(folder / "lake")).files)
    workspace = build_all(settings_file, tables=("connections", "pod_traffic"))
    report = BuildReport(None)
    report.missing = missing_deliveries(workspace, [DAY])
    landed = len(Ledger.read(workspace.lake).files) - before
    return Built(report.exit_code, landed, set(report.missing))


def check(folder: Path, count: int, build: Callable[[Path], Built]) -> None:
    names = cluster_names(count)
    missing, half, damaged, *others = names
    (folder / "podledger.yaml").write_text(settings_text(count), encoding="utf-8")
    for name in names:
        if name != missing:
            deliver(folder, name, DAY, FORMATS[:4] if name == half else FORMATS)
    whole = gzip.compress(b"text of a log\n" * 10_000)
    path_of(folder, damaged, DAMAGED, DAY).write_bytes(whole[: len(whole) // 2])

    first = build(folder)
    told = {
        f"{cluster}: {name} of {DAY}: missing (no file came)"
        for cluster, formats in ((missing, FORMATS), (half, LATE))
        for name in formats
    }
    assert first == Built(3, 8 * (count - 1) - len(LATE), told)
    assert connections_by_cluster(folder) == dict.fromkeys(names[1:], 1)

    status = json.loads(run(folder, "status", "--json").out)
    glance = {row["cluster"]: row for row in status["clusters"]}
    assert list(glance) == names
    assert (glance[missing]["complete"], glance[missing]["awaited"]) == (0, 8)
    assert (glance[half]["complete"], glance[half]["not_complete"]) == (4, ", ".join(sorted(LATE)))
    assert (glance[damaged]["complete"], glance[damaged]["damaged_files"]) == (8, 1)
    for name in others:
        assert (glance[name]["complete"], glance[name]["not_complete"]) == (8, "")
        assert glance[name]["damaged_files"] == 0

    before = made_at(folder)
    deliver(folder, missing, DAY)
    deliver(folder, half, DAY, LATE)
    assert build(folder) == Built(0, 8 + len(LATE), set())
    after = made_at(folder)
    rebuilt = {key for key, at in after.items() if before.get(key) != at}
    # Parts and commits are named after their clusters, too; no other cluster's files are touched.
    assert {scope.partition("-")[0] for _, scope in rebuilt} == {missing, half, "fleet"}
    assert ("connections", missing) in rebuilt
    assert ("pod_traffic", half) in rebuilt
    assert connections_by_cluster(folder) == dict.fromkeys(names, 1)


def test_six_clusters(tmp_path: Path) -> None:
    check(tmp_path, 6, build_some)


@pytest.mark.slow
def test_forty_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    check(tmp_path, 40, build_whole)
    assert run(tmp_path, "build").out.splitlines()[0] == "nothing changed"
