"""What a build does with days, clusters and deliveries, without the command line."""

import datetime as dt
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import duckdb
import polars as pl
import pytest

from pipelines.build import build_day_of, gather
from pipelines.deliveries import DELIVERIES
from pipelines.errors import DataCheckError, PodledgerError
from pipelines.fixtures import FIXTURES
from pipelines.ledger import Ledger
from pipelines.run import (
    Workspace,
    build_table_of_day,
    event_days,
    land_days,
    misdated_files,
    missing_clusters,
    missing_deliveries,
    note_deliveries,
    publish_catalogue,
    require_possible,
    unbuilt_days,
    warnings_of,
)
from tests.pipelines.landing_zone import line, put, zone
from transforms.day import BuildDay
from transforms.registry import transforms
from transforms.sql import SqlSession

DAY = dt.date(2026, 3, 10)
TWO = """
lake: lake
catalog: podledger.duckdb
clusters:
  alder: {cloud: aws}
  birch: {cloud: aws}
exports:
  - {name: logs, format: s3_access_log, path: "in/%Y-%m-%d/*.log*", expect: {every: day}}
"""


def workspace_of(folder: Path, text: str = TWO) -> Workspace:
    zone(folder, text)
    return Workspace(folder / "podledger.yaml")


def test_a_record_of_a_clock_that_runs_ahead_hides_no_day(tmp_path: Path) -> None:
    ahead = line(1).replace("10/Mar/2026", "10/Mar/2099")
    put(tmp_path, "a.log", [line(1), ahead])
    workspace = workspace_of(tmp_path)
    land_days(workspace, None)
    assert event_days(workspace.lake) == [DAY]


def test_a_clock_that_was_never_set_asks_for_no_day_between(tmp_path: Path) -> None:
    unset = line(1).replace("10/Mar/2026", "01/Jan/1970")
    earlier = line(2).replace("10/Mar/2026", "20/Dec/2025")
    put(tmp_path, "a.log", [unset, earlier, line(3)])
    put(tmp_path, "b.log", [line(4)])
    workspace = workspace_of(tmp_path)
    land_days(workspace, None)
    assert event_days(workspace.lake) == [dt.date(2025, 12, 20), DAY]
    (misdated,) = misdated_files(workspace.lake)
    assert misdated["path"] == str(tmp_path / "in/2026-03-10/a.log")
    assert misdated["first_event_at"].date() == dt.date(1970, 1, 1)


def test_days_that_no_partition_holds_are_refused_with_what_is_expected() -> None:
    require_possible([DAY])
    for wrong in (dt.date(2023, 12, 31), dt.date(2999, 1, 1)):
        with pytest.raises(PodledgerError, match=f"{wrong}: expected a day from 2024-01-01 to "):
            require_possible([DAY, wrong])


def test_an_asked_day_on_which_nothing_came_is_missing_and_stays_in_deliveries(
    tmp_path: Path,
) -> None:
    put(tmp_path, "a.log", [line(1)])
    workspace = workspace_of(tmp_path)
    land_days(workspace, None)
    asked = DAY + dt.timedelta(days=2)
    assert missing_deliveries(workspace, [asked]) == [
        "fleet: logs of 2026-03-12: missing (no file came)"
    ]
    note_deliveries(workspace, [asked])
    put(tmp_path, "b.log", [line(2)])
    land_days(workspace, None)
    rows = pl.concat(
        pl.read_parquet(path, hive_partitioning=False)
        for day in workspace.lake.days(DELIVERIES)
        for path in workspace.lake.files(DELIVERIES, day)
    )
    assert rows.select("landing_date", "status", "file_count").rows() == [
        (DAY, "complete", 2),
        (DAY + dt.timedelta(days=1), "missing", 0),
        (asked, "missing", 0),
    ]


def test_until_its_hour_a_delivery_is_late_and_not_missing(tmp_path: Path) -> None:
    text = TWO.replace("{every: day}", "{by_hour_utc: 6}")
    workspace = workspace_of(tmp_path, text)
    due = dt.datetime(2026, 3, 11, 6, tzinfo=dt.UTC)
    workspace.clock = lambda: due - dt.timedelta(seconds=1)
    assert missing_deliveries(workspace, [DAY]) == []
    note_deliveries(workspace, [DAY])
    (path,) = workspace.lake.files(DELIVERIES, DAY)
    (row,) = pl.read_parquet(path, hive_partitioning=False).iter_rows(named=True)
    assert (row["status"], row["reason"]) == (
        "late",
        # By `final_after` it may come still later.
        "no file came",
    )
    workspace.clock = lambda: due
    assert missing_deliveries(workspace, [DAY]) == [
        "fleet: logs of 2026-03-10: missing (no file came)"
    ]


def test_a_cluster_that_was_never_built_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    workspace = workspace_of(tmp_path)
    workspace.only_cluster = "alder"
    land_days(workspace, None)
    for table in transforms():
        build_table_of_day(workspace, table, DAY)
    assert missing_clusters(workspace, [DAY]) == [
        "birch: no published tables of 2026-03-10; the fleet's answers leave it out"
    ]
    publish_catalogue(workspace, DAY)
    assert left_out(workspace) == [["birch"]]
    note_deliveries(workspace, [DAY])
    assert left_out(workspace) == [["birch"]]
    workspace.only_cluster = None
    for table in transforms():
        build_table_of_day(workspace, table, DAY)
    assert missing_clusters(workspace, [DAY]) == []
    publish_catalogue(workspace, DAY)
    assert left_out(workspace) == [[]]


def left_out(workspace: Workspace) -> list[list[str]]:
    """What the deliveries in the catalogue say."""
    with duckdb.connect(str(workspace.settings.catalog_path), read_only=True) as connection:
        rows = connection.execute("SELECT left_out_clusters FROM deliveries").fetchall()
    return [clusters for (clusters,) in rows]


def test_a_cluster_whose_table_fails_stays_unpublished_and_the_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines import build

    whole = build.publish

    def refuse(lake, session, spec, source, day, name, *rest):
        if (spec.name, name) == ("pod_intervals", "birch"):
            message = "pod_intervals: rows break the model"
            raise DataCheckError(message)
        return whole(lake, session, spec, source, day, name, *rest)

    monkeypatch.setattr(build, "publish", refuse)
    put(tmp_path, "a.log", [line(1)])
    workspace = workspace_of(tmp_path)
    land_days(workspace, None)
    outcomes = [o for t in transforms() for o in build_table_of_day(workspace, t, DAY)]
    assert [(o.table, o.scope) for o in outcomes if o.problem] == [("pod_intervals", "birch")]
    published = {(o.table, o.scope) for o in outcomes if o.published}
    assert {scope for _, scope in published} == {"alder", "fleet"}
    assert ("run_dependency_days", "fleet") in published
    assert missing_clusters(workspace, [DAY]) == [
        "birch: no published tables of 2026-03-10; the fleet's answers leave it out"
    ]


def test_days_that_look_backs_need_and_that_are_not_built_are_named_by_range(
    tmp_path: Path,
) -> None:
    workspace = workspace_of(tmp_path)
    assert unbuilt_days(workspace) == []
    for day in (DAY, DAY + dt.timedelta(days=3)):
        path = workspace.lake.path("run_dependency_days", day, "fleet")
        path.parent.mkdir(parents=True)
        path.touch()
    found = {
        (r["look_back"], r["first"].day, r["last"].day, r["days"]) for r in unbuilt_days(workspace)
    }
    # 10 and 13 March are built; names reach back one day, pods 36 h, so that two days are met.
    assert {r for r in found if r[0] in {"names", "pods"}} == {
        ("names", 9, 9, 1),
        ("names", 12, 12, 1),
        ("pods", 8, 9, 2),
        ("pods", 11, 12, 2),
    }
    # Repeats reach back 30 days and the day on which a transfer may have begun: 7 February.
    assert {r for r in found if r[0] == "repeats"} == {
        ("repeats", 7, 9, 31),
        ("repeats", 11, 12, 2),
    }


def test_settings_that_lose_something_are_warned_of(tmp_path: Path) -> None:
    hubble = '  - {name: flows, format: hubble, path: "in/%Y-%m-%d/*.json"}\n'
    workspace = workspace_of(tmp_path, TWO + hubble)
    assert warnings_of(workspace.settings) == [
        "no redaction_key_file: access key ids become null and join nothing",
        (
            "exports.flows: neither {cluster} in its path nor clusters: its records belong to no "
            "cluster, so that no pod is found for them"
        ),
    ]
    (tmp_path / "redaction.key").write_text("0123456789abcdef")
    workspace = workspace_of(
        tmp_path,
        TWO + hubble.replace("}", ", clusters: [alder]}") + "redaction_key_file: redaction.key\n",
    )
    assert warnings_of(workspace.settings) == []


def test_an_engine_that_stops_over_one_cluster_keeps_no_other_from_being_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transform = transforms()["node_coverage"]

    def stop(session: SqlSession, day: BuildDay) -> str:
        if day.cluster == "birch":
            session.connection.execute("SELECT CAST(1e30 AS BIGINT)").fetchall()
        return transform.build(session, day)

    monkeypatch.setitem(transforms(), "node_coverage", replace(transform, build=stop))
    put(tmp_path, "a.log", [line(1)])
    workspace = workspace_of(tmp_path)
    land_days(workspace, None)
    outcomes = build_table_of_day(workspace, "node_coverage", DAY)
    assert [o.scope for o in outcomes if o.published] == ["alder", "fleet"]
    (problem,) = [o.problem for o in outcomes if o.problem]
    assert problem.startswith("node_coverage: ConversionException: ")
    assert workspace.failed == {(DAY, "birch")}


def test_a_cluster_sees_runs_of_the_fleets_exports_but_no_requests(tmp_path: Path) -> None:
    runs = '  - {name: runs, format: polyaxon, path: "runs/%Y-%m-%d/*.json"}\n'
    workspace = workspace_of(tmp_path, TWO + runs)
    put(tmp_path, "a.log", [line(1)])
    detail = next((FIXTURES / "exports").glob("alder/polyaxon/vision/2026-03-10/*.json"))
    (tmp_path / "runs/2026-03-10").mkdir(parents=True)
    copyfile(detail, tmp_path / "runs/2026-03-10/run.json")
    land_days(workspace, None)
    lake, settings = workspace.lake, workspace.settings
    ledger = Ledger.read(lake)
    day = build_day_of(settings, lake, ledger, DAY, DAY).of("alder")
    seen = gather(settings, lake, ledger, transforms()["pod_intervals"], day).parts
    assert [p.path.name[:6] for p in seen["run_versions"]] == ["fleet-"]
    assert seen["pod_states"] == []
    seen = gather(settings, lake, ledger, transforms()["node_coverage"], day).parts
    assert seen["object_requests"] == []
