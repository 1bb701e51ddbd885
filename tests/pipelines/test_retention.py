"""Retention removes what is old and needed no more; the ledger and the answers stay."""

import datetime as dt
import json
import shutil
import time
from pathlib import Path

import polars as pl
import pytest

from pipelines.cli.prune import pruning_of
from pipelines.cli.status import status_of
from pipelines.deliveries import note_left_out, noted_left_out
from pipelines.errors import LakeDamagedError, PodledgerError
from pipelines.finality import BUILT, is_closed, note_closed
from pipelines.ledger import Ledger, note_pruned, pruned_note
from pipelines.parquet import scan_files
from pipelines.publication import note_of
from pipelines.retention import prune
from pipelines.run import (
    Workspace,
    ask_for,
    days_to_build,
    event_days,
    land_days,
    misdated_files,
    missing_clusters,
    note_deliveries,
    stale_days,
)
from pipelines.storage import Lake
from tests.pipelines.cli.command import podledger
from tests.pipelines.landing_zone import SETTINGS, line, put, zone
from tests.pipelines.plain_build import (
    assert_readable,
    build_all,
    catalogue_rows,
    published,
    untouched_processes,
)

OLD, NEW = dt.date(2026, 3, 10), dt.date(2026, 4, 20)
NOW = dt.datetime(2026, 4, 21, 2, tzinfo=dt.UTC)
WITH_RUNS = SETTINGS + '  - {name: runs, format: polyaxon, path: "runs/%Y-%m-%d/*.json"}\n'
BOTH = WITH_RUNS + "retention_days: 30\n"
MARTS = WITH_RUNS + "retention_days: {marts: 30}\n"


def run_list(folder: Path, day: dt.date) -> None:
    """A list in which one run has gone on since March."""
    run = {
        "uuid": "5d0d9f9a0c7b4a3e8f3a1f1e2d3c4b5a", "name": "long", "project": "vision",
        "kind": "job", "runtime": "job", "status": "running",
        "created_at": "2026-03-10T09:00:00Z", "started_at": "2026-03-10T09:01:00Z",
        "updated_at": f"{day}T20:00:00Z",
    }  # fmt: skip
    path = folder / "runs" / day.isoformat() / "runs.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"count": 1, "results": [run]}), encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An old final day and a provisional one, over both of which a run goes; and a copy."""
    folder, copy = tmp_path_factory.mktemp("lake"), tmp_path_factory.mktemp("copy")
    put(folder, "a.log", [line(1), "no log line"])
    put(folder, "b.log", [line(1).replace("10/Mar", "20/Apr")], day="2026-04-20")
    run_list(folder, OLD)
    run_list(folder, NEW)
    zone(folder, WITH_RUNS)
    build_all(folder / "podledger.yaml", at=NOW)
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    return folder, copy


@pytest.fixture
def folder(built: tuple[Path, Path]) -> Path:
    """The same at the same place, as it was built."""
    place, copy = built
    shutil.rmtree(place)
    shutil.copytree(copy, place)
    return place


def workspace_of(folder: Path, text: str) -> Workspace:
    zone(folder, text)
    workspace = Workspace(folder / "podledger.yaml")
    workspace.clock = lambda: NOW
    return workspace


def tables_of(folder: Path, day: dt.date) -> set[str]:
    """Tables of which the lake has a file of a day."""
    return {path.parent.parent.name for path in (folder / "lake").glob(f"*/date={day}/*.parquet")}


def test_without_a_setting_nothing_is_pruned(folder: Path) -> None:
    workspace = workspace_of(folder, WITH_RUNS)
    with pytest.raises(PodledgerError, match="retention_days: not set; expected days such as 90"):
        prune(workspace)
    assert status_of(workspace)["prune"] == []


def test_what_is_old_goes_and_answers_and_ledger_stay(folder: Path) -> None:
    workspace = workspace_of(folder, BOTH)
    before, answers = tables_of(folder, OLD), catalogue_rows(folder / "podledger.duckdb")
    files = Ledger.read(workspace.lake).files
    shown = pruning_of(workspace)
    staged = {row["table"]: row["files"] for row in shown["prune"] if row["first_day"] == OLD}
    # Of the run that goes on its intermediate rows stay; two parts and the refused line go.
    assert {
        "object_requests": 1,
        "run_versions": 1,
        "rejected_records": 1,
    }.items() <= staged.items()
    assert shown["closed"] == [OLD]
    assert status_of(workspace)["prune"] == shown["prune"]
    assert tables_of(folder, OLD) == before
    assert prune(workspace) == sum(row["files"] for row in shown["prune"])
    assert tables_of(folder, OLD) == before - staged.keys()
    assert is_closed(workspace.lake, OLD)
    assert not is_closed(workspace.lake, NEW)
    # The newer day lost nothing, and people read what they read before.
    assert_readable(folder)
    assert {"object_requests", "run_versions", "connections"} <= tables_of(folder, NEW)
    assert catalogue_rows(folder / "podledger.duckdb") == answers
    kept = Ledger.read(workspace.lake).files
    assert kept.drop("part", "rows_by_table").equals(files.drop("part", "rows_by_table"))
    assert pruning_of(workspace)["prune"] == []
    states = {row["date"]: row["state"] for row in status_of(workspace)["days"]}
    assert states == {OLD: "final, pruned", NEW: "provisional"}


@pytest.mark.parametrize("year", [1677, 9999])
def test_no_record_keeps_its_part_for_ever(folder: Path, year: int) -> None:
    """One line of a clock that was never right stands among others."""
    strange = line(6).replace("10/Mar/2026", f"31/Dec/{year}")
    put(folder, "c.log", [line(5), strange])
    workspace = workspace_of(folder, BOTH)
    land_days(workspace, None)
    (file,) = (
        Ledger.read(workspace.lake)
        .files.filter(pl.col("path").str.ends_with("c.log"))
        .rows(named=True)
    )
    assert (file["accepted_count"], file["rejected_count"]) == (2, 0)
    assert year in {file["first_event_at"].year, file["last_event_at"].year}
    staged = {row["table"]: row["files"] for row in pruning_of(workspace)["prune"]}
    assert staged["object_requests"] == 2
    prune(workspace)
    assert "object_requests" not in tables_of(folder, OLD)


def test_commits_of_pruned_parts_are_not_searched_for_other_parts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = workspace_of(folder, BOTH)
    prune(workspace)
    searched: list[list[Path]] = []

    def noted(paths: list[Path]) -> pl.LazyFrame:
        searched.append(paths)
        return scan_files(paths)

    ledger = Ledger.read(workspace.lake)
    monkeypatch.setattr("pipelines.ledger.scan_files", noted)
    (part,) = ledger.files.drop_nulls("part").filter(pl.col("export") == "logs").rows(named=True)
    commit = ledger.commit_of(NEW, part["cluster"], part["part"])
    assert commit.is_file()
    assert searched == []


def test_a_run_that_goes_on_keeps_its_old_days(folder: Path) -> None:
    """Its dependencies of a later day are those of its whole life."""
    workspace = workspace_of(folder, MARTS)
    shown = pruning_of(workspace)
    kept = {row["table"] for row in shown["kept"]}
    assert {"run_dependency_days", "waits", "byte_balance", "storms"} <= kept
    assert shown["first_open"] == dt.date(2026, 4, 17)
    prune(workspace)
    left = tables_of(folder, OLD)
    assert kept <= left
    assert {"runs", "run_checks", "transfer_costs", "bill_reconciliation"}.isdisjoint(left)
    assert "object_requests" in left


def test_a_pruned_day_is_built_no_more_and_its_files_do_not_land_again(folder: Path) -> None:
    workspace = workspace_of(folder, BOTH)
    prune(workspace)
    left = published(folder)
    put(folder, "copy.log", [line(1), "no log line"])
    put(folder, "late.log", [line(2)])
    with workspace.locked():
        report = land_days(workspace, None)
    assert (report.files, report.same_content, report.records["accepted"]) == (2, 1, 1)
    assert OLD not in stale_days(workspace)
    with pytest.raises(PodledgerError, match=r"2026-03-10: its inputs were pruned.*expected a"):
        ask_for(workspace, OLD)
    assert days_to_build(workspace, [OLD - dt.timedelta(days=1)]) == [
        OLD - dt.timedelta(days=1),
        NEW,
    ]
    late = [(row["date"], Path(row["path"]).name) for row in status_of(workspace)["late"]]
    assert (OLD, "late.log") in late
    (waits,) = [row for row in status_of(workspace)["days"] if row["date"] == OLD]
    assert (waits["stale"], waits["waits_for"]) == (
        False,
        "1 late file(s) that cannot be built in: inputs of the day were pruned",
    )
    # Other settings would build it again, too, if it were not closed.
    changed = workspace_of(folder, BOTH + "datasets: [{id: keys, pattern: 's3://*'}]\n")
    assert stale_days(changed) == [NEW]
    assert missing_clusters(changed, [OLD]) == []
    assert {path for path in left if "date=2026-03-10" in path} <= published(folder)


def test_deliveries_of_pruned_days_stay_as_they_were(folder: Path) -> None:
    workspace = workspace_of(folder, BOTH)
    path = workspace.lake.path("deliveries", OLD, "fleet")
    before = path.read_bytes()
    prune(workspace)
    note_deliveries(workspace, [])
    assert path.read_bytes() == before


def test_clusters_that_a_day_left_out_stay_named_when_its_answers_are_pruned(folder: Path) -> None:
    workspace = workspace_of(folder, MARTS)
    lake = workspace.lake
    (cluster,) = workspace.settings.clusters
    note_left_out(lake, OLD, [cluster])
    note_closed(lake, OLD)
    for path in lake.files(BUILT, OLD):
        lake.remove(note_of(path))
        lake.remove(path)
    note_deliveries(workspace, [])
    assert noted_left_out(lake, OLD) == [cluster]
    (told,) = missing_clusters(workspace, [OLD])
    assert told.startswith(f"{cluster}: no published tables of 2026-03-10")


@pytest.mark.parametrize("created", ["2026-03-09T09:00:00Z", "2023-12-31T09:00:00Z"])
def test_a_pruned_list_asks_for_no_day_on_which_what_it_listed_began(
    tmp_path: Path, created: str
) -> None:
    """Whether a file is a list or a log is not known of one whose rows are gone."""
    run_list(tmp_path, OLD)
    listed = tmp_path / "runs" / OLD.isoformat() / "runs.json"
    listed.write_text(listed.read_text(encoding="utf-8").replace("2026-03-10T09:00:00Z", created))
    workspace = workspace_of(tmp_path, WITH_RUNS)
    land_days(workspace, None)
    assert event_days(workspace.lake) == [OLD]
    assert misdated_files(workspace.lake) == []
    note_pruned(workspace.lake, OLD, Ledger.read(workspace.lake).files["part"])
    assert event_days(workspace.lake) == []
    assert misdated_files(workspace.lake) == []
    note = pruned_note(workspace.lake, OLD)
    note.write_bytes(note.read_bytes()[:-1])
    with pytest.raises(LakeDamagedError, match=r"\.pruned: damaged; expected a list of the parts"):
        Ledger.read(workspace.lake)


def test_the_command_shows_first_and_removes_on_request(folder: Path) -> None:
    config = ("--config", folder / "podledger.yaml")
    zone(folder, WITH_RUNS)
    refused = podledger("prune", *config)
    assert (refused.code, "retention_days: not set" in refused.err) == (2, True)
    zone(folder, BOTH)
    before = published(folder)
    shown = podledger("prune", *config)
    assert (shown.code, published(folder)) == (0, before)
    assert shown.out.startswith("would be removed (--yes removes it)\n")
    assert "closed: 1 final day(s), 2026-03-10 to 2026-03-10, keep their answers" in shown.out
    done = json.loads(podledger("prune", "--yes", "--json", *config).out)
    assert done["removed_files"] == sum(row["files"] for row in done["prune"]) > 0
    again = podledger("prune", *config)
    assert again.out.startswith("would be removed (--yes removes it): nothing\n")


class Killed(BaseException):
    """What a test raises in place of a kill; nothing catches it."""


def test_a_pruning_that_dies_at_any_moment_is_finished_by_the_next(folder: Path) -> None:
    answers = catalogue_rows(folder / "podledger.duckdb")
    died: set[tuple[str, str]] = set()

    def die(moment: str, path: Path) -> None:
        kind = path.name if path.name.startswith(".") else path.suffix
        if (moment, kind) not in died:
            died.add((moment, kind))
            raise Killed

    for _ in range(50):
        workspace = workspace_of(folder, BOTH)
        workspace._held = Lake(workspace.settings.lake_path, die)
        try:
            prune(workspace)
        except Killed:
            assert_readable(folder)
        else:
            break
    # The notes, the notes of files, files and the catalogue.
    assert {kind for _, kind in died} >= {
        ".closed",
        ".pruned",
        ".fleet.made",
        ".parquet",
        ".duckdb",
    }
    workspace = workspace_of(folder, BOTH)
    assert pruning_of(workspace)["prune"] == []
    assert catalogue_rows(folder / "podledger.duckdb") == answers
    assert stale_days(workspace) in ([], [NEW])


def _prune(settings_file: Path) -> None:
    workspace = Workspace(settings_file)
    workspace.clock = lambda: NOW
    prune(workspace)


@pytest.mark.slow
def test_a_pruning_that_is_killed_is_finished_by_the_next(folder: Path) -> None:
    """SIGKILL in the middle of the removal, ten times at most."""
    zone(folder, BOTH)
    settings_file = folder / "podledger.yaml"
    whole = len(published(folder))
    kills = 0
    for lost in (1, 2, 4, 8, 12, 16, 20):
        process = untouched_processes().Process(target=_prune, args=(settings_file,))
        process.start()
        while whole - len(published(folder)) < lost and process.exitcode is None:
            time.sleep(0.0005)
        process.kill()
        process.join()
        kills += process.exitcode == -9
        assert_readable(folder)
    assert kills >= 1
    _prune(settings_file)
    assert pruning_of(workspace_of(folder, BOTH))["prune"] == []
