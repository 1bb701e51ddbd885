"""`podledger build`: exit 0 done, 1 a check failed, 2 wrong usage, 3 something is missing."""

import json
import os
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from pipelines import build
from pipelines.errors import DataCheckError
from tests.pipelines.cli.command import Ended, podledger
from tests.pipelines.landing_zone import line, put

SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters:
  alder: {cloud: aws}
exports:
  - {name: logs, format: auto, path: "in/%Y-%m-%d/*.log*", expect: {every: day}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    # A history in files takes a third of a small build; the demo's test keeps one.
    monkeypatch.setattr(dg.DagsterInstance, "get", dg.DagsterInstance.ephemeral)
    (tmp_path / "podledger.yaml").write_text(SETTINGS, encoding="utf-8")
    put(tmp_path, "a.log", [line(1)])
    return tmp_path


def run(folder: Path, *arguments: str) -> Ended:
    return podledger("build", "--config", folder / "podledger.yaml", *arguments)


def test_a_build_of_all_that_is_expected_exits_0_and_a_further_one_changes_nothing(
    folder: Path,
) -> None:
    first = run(folder, "--json")
    assert first.code == 0, first.err
    content = json.loads(first.out)
    assert (content["landed_files"], content["days"]) == (1, ["2026-03-10"])
    assert (content["problems"], content["missing"], content["unread"]) == ([], [], [])
    again = run(folder)
    assert again.code == 0
    assert again.out.splitlines()[0] == "nothing changed"
    assert again.err.splitlines()[0] == (
        "warning: clusters.alder: no export names it or has {cluster} in its path, so that it gets "
        "no rows; expected it in an export"
    )


def test_a_failed_check_exits_1_and_names_table_and_cluster(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = build.publish

    def refuse(lake, session, spec, source, day, name, *rest):
        if (spec.name, name) == ("connections", "alder"):
            message = "connections: key (connection_id) repeats"
            raise DataCheckError(message)
        return whole(lake, session, spec, source, day, name, *rest)

    monkeypatch.setattr(build, "publish", refuse)
    ended = run(folder)
    assert ended.code == 1
    assert "not published: alder 2026-03-10: connections: key (connection_id) repeats" in ended.out
    assert not list((folder / "lake" / "connections").rglob("*.parquet"))
    assert list((folder / "lake" / "run_dependency_days").rglob("fleet.parquet"))
    monkeypatch.undo()
    assert run(folder).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--date", "2026-13-01"), "--date 2026-13-01: expected a day such as 2026-03-10"),
        (("--date", "2023-01-01"), "2023-01-01: expected a day from 2024-01-01 to "),
        (("--date", "2999-01-01"), "2999-01-01: expected a day from 2024-01-01 to "),
        (("--from", "2026-03-10"), "--from and --to go together"),
        (("--cluster", "elm"), "--cluster elm: expected one of alder"),
        (("--stale", "--date", "2026-03-10"), "--stale chooses the days itself"),
    ],
)
def test_wrong_usage_exits_2_with_what_was_expected(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = run(folder, *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_a_day_on_which_nothing_came_and_a_file_that_nobody_knows_exit_3_by_name(
    folder: Path,
) -> None:
    put(folder, "odd.log", ["neither this nor that"])
    ended = run(folder, "--date", "2026-03-12")
    assert ended.code == 3
    assert "missing: fleet: logs of 2026-03-12: missing (no file came)" in ended.out
    assert "odd.log: no known format recognises it" in ended.out


def test_a_folder_of_an_impossible_day_exits_3_by_name(folder: Path) -> None:
    (folder / "in/2026-03-10").rename(folder / "in/2026-02-30")
    ended = run(folder)
    assert ended.code == 3
    path = folder / "in/2026-02-30/a.log"
    assert f"not read: {path}: its path names a day or hour that there is not; exp" in ended.out
    # Nothing is published, and no file is named that is not there.
    assert ended.out.endswith("\ncatalogue: none yet, as no day is built\n")
    assert not (folder / "podledger.duckdb").exists()


@pytest.mark.parametrize("has_later", [False, True])
def test_a_pattern_that_never_found_anything_is_no_success(folder: Path, has_later: bool) -> None:
    (folder / "podledger.yaml").write_text(
        SETTINGS
        + '  - {name: other, format: hubble, path: "wrong/{cluster}/%Y-%m-%d/*", expect: {}}\n'
        + '  - {name: undated, format: auto, path: "undated/*.log", expect: {}}\n',
        encoding="utf-8",
    )
    if not has_later:
        (folder / "in" / "2026-03-10" / "a.log").unlink()
    ended = run(folder, "--date", "2026-03-09")
    assert ended.code == 3, ended.err
    assert "missing: fleet: logs of 2026-03-09: missing (no file came)" in ended.out
    assert "missing: alder: other of 2026-03-09: missing (no file came)" in ended.out
    assert "undated" not in ended.out
    assert "exports.other: no file matches wrong/{cluster}/%Y-%m-%d/*" in ended.err
    assert ("exports.logs: no file" in ended.err) is not has_later
    status = podledger("status", "--config", folder / "podledger.yaml", "--json")
    shown = {(d["export"], d["landing_date"]) for d in json.loads(status.out)["deliveries"]}
    assert ("other", "2026-03-09") in shown


@pytest.mark.slow
def test_a_late_file_of_a_final_day_waits_until_the_day_is_asked_for(folder: Path) -> None:
    assert run(folder).code == 0
    late = put(folder, "late.log", [line(2)])
    waits = run(folder)
    assert waits.code == 0
    assert (
        "waiting: 2026-03-10 is final: 1 late file(s); "
        "podledger build --date 2026-03-10 builds it in"
    ) in waits.out
    shown = podledger("status", "--config", folder / "podledger.yaml")
    assert "late files of final days, built in on request" in shown.out
    assert "late.log" in shown.out
    content = json.loads(podledger("status", "--json", "--config", folder / "podledger.yaml").out)
    assert [(f["path"], f["records"]) for f in content["late"]] == [(str(late), 1)]
    asked = json.loads(run(folder, "--date", "2026-03-10", "--json").out)
    assert (asked["days"], asked["waiting"], asked["exit_code"]) == (["2026-03-10"], [], 0)
    query = (
        "SELECT value_before, value_after, cause FROM restatements "
        "WHERE table_name = 'run_dependency_days' AND column_name = 'received_bytes'"
    )
    told = podledger("query", query, "--format", "json", "--config", folder / "podledger.yaml")
    assert json.loads(told.out) == [
        {"value_before": "100", "value_after": "200", "cause": f"late file(s): {late}"}
    ]
    assert run(folder).out.splitlines()[0] == "nothing changed"


def test_a_folder_that_cannot_be_listed_exits_3_by_name_and_the_rest_is_built(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "b.log", [line(2)], day="2026-03-11")
    scan_folder = os.scandir

    def refuse(path: object = ".") -> object:
        if str(path).endswith("in/2026-03-10"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan_folder(path)

    monkeypatch.setattr("os.scandir", refuse)
    ended = run(folder)
    assert ended.code == 3
    refused = folder / "in/2026-03-10"
    line_of_it = f"not read: {refused}: Permission denied; expected a readable folder"
    assert ended.out.count(line_of_it) == 1
    assert "landed 1 file(s)" in ended.out
    # Nothing new: the folder is named all the same.
    again = run(folder)
    assert (again.code, again.out.count(line_of_it)) == (3, 1)


@pytest.mark.slow
def test_settings_that_read_otherwise_are_warned_of(folder: Path) -> None:
    assert run(folder).code == 0
    (folder / "podledger.yaml").write_text(SETTINGS.replace("expect:", "region: x, expect:"))
    ended = run(folder)
    assert "warning: exports.logs: 1 file(s) were read under other settings" in ended.err
    content = json.loads(podledger("status", "--json", "--config", folder / "podledger.yaml").out)
    assert content["read_otherwise"] == [
        {"export": "logs", "landing_date": "2026-03-10", "files": 1}
    ]
    (file,) = content["read_otherwise_files"]
    assert (file["path"], Path(file["commit"]).is_file()) == (
        str(folder / "in/2026-03-10/a.log"),
        True,
    )


@pytest.mark.parametrize(
    ("setting", "file", "message"),
    [
        ("prices: p.csv", "price_id,provider\n", "p.csv"),
        ("prices: missing.csv", "", "missing.csv"),
        ("endpoints: p.csv", "pattern\n", "p.csv"),
        ("address_ranges: [p.csv]", "[]", "p.csv"),
    ],
)
def test_a_wrong_reference_file_is_refused_before_anything_lands(
    folder: Path, setting: str, file: str, message: str
) -> None:
    (folder / "p.csv").write_text(file, encoding="utf-8")
    settings = folder / "podledger.yaml"
    settings.write_text(f"{SETTINGS}\nreference: {{{setting}}}\n", encoding="utf-8")
    ended = run(folder)
    assert (ended.code, message in ended.err) == (2, True)
    assert not (folder / "lake/export_files").exists()


@pytest.mark.slow
def test_stale_reads_again_builds_final_days_and_names_what_is_gone(folder: Path) -> None:
    gone = put(folder, "b.log", [line(90_000)], day="2026-03-11")
    assert run(folder).code == 0
    before = (folder / "podledger.duckdb").read_bytes()
    gone.unlink()
    (folder / "podledger.yaml").write_text(SETTINGS.replace("expect:", "region: x, expect:"))
    # The nightly build leaves what is read and what is final.
    assert run(folder).out.splitlines()[0] == "nothing changed"
    assert (folder / "podledger.duckdb").read_bytes() == before
    ended = run(folder, "--stale")
    assert ended.code == 3, ended.err
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        causes = connection.execute("SELECT DISTINCT cause FROM restatements").fetchall()
    # That the region was learned from the export moves an answer of the day.
    again = f"file(s) read again: {folder / 'in/2026-03-10/a.log'}"
    assert {cause for (cause,) in causes} <= {again, f"{again}; settings or logic changed"}
    assert "read again 1 file(s)" in ended.out
    assert f"missing: {gone}: gone, or not what was read; it stays as it was read" in ended.out
    status = json.loads(podledger("status", "--json", "--config", folder / "podledger.yaml").out)
    assert [day["stale"] for day in status["days"]] == [False, False]
    assert status["read_otherwise"] == [
        {"export": "logs", "landing_date": "2026-03-11", "files": 1}
    ]
    # What is gone is told each time; the rest is done.
    again = run(folder, "--stale")
    assert (again.code, again.out.splitlines()[0]) == (3, "nothing changed")
