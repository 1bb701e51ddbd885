"""podledger accept: the sheet, its exit codes, and several runs together."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from pipelines.catalog import write_catalog
from pipelines.cli.accept import sheet_lines, together, verdict
from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.marts.outputs import STEPS
from schemas.registry import table_spec
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DAY
from tests.pipelines.landing_zone import SETTINGS
from tests.transforms.frames import frame, show
from tests.transforms.marts.deployment_world import BROKEN, RUN, in_place
from transforms.day import BuildDay
from transforms.marts import run_checks
from transforms.sql import SqlSession

GOOD, BAD, DARK = "a" * 32, "b" * 32, "c" * 32


def check(run: str, number: int, result: str) -> dict[str, Any]:
    return {
        "run_check_id": f"{run}{number}", "run_uuid": run, "step_number": number,
        "step": STEPS[number - 1], "result": result, "sentence": f"[red]why\x1b {number}[/red]",
        "evidence_ids": [f"{number}{n}".rjust(32, "0") for n in range(4)],
    }  # fmt: skip


def checks(run: str, **results: str) -> list[dict[str, Any]]:
    return [check(run, n, results.get(step, "passed")) for n, step in enumerate(STEPS, 1)]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("accept")
    path = folder / "podledger.yaml"
    path.write_text(SETTINGS, encoding="utf-8")
    loaded = load_settings(path)
    lake = Lake(loaded.lake_path)
    rows = [
        *checks(GOOD), *checks(BAD, cleaned_up="failed", failure_visible="not_observable"),
        *checks(DARK, interruption_handled="not_observable"),
    ]  # fmt: skip
    with SqlSession() as session:
        session.register("rows", frame("run_checks", rows))
        made = Made("by hand", 1)
        publish(lake, session, table_spec("run_checks"), "rows", DAY, "fleet", made)
    write_catalog(lake, loaded.catalog_path)
    return path


@pytest.mark.parametrize("broken", [None, "begun anew", "a pod stays"])
def test_a_run_that_failed_once_and_was_resumed_is_accepted(broken: str | None) -> None:
    world, step = in_place(), None
    if broken is not None:
        breaks, step = BROKEN[broken]
        breaks(world)
    day = dt.date(2026, 3, 2)
    with SqlSession(threads=1) as session:
        show(session, **{r.table: world.get(r.table, []) for r in run_checks.TRANSFORM.reads})
        built = run_checks.TRANSFORM.build(session, BuildDay(day, "fleet"))
        sheet = together(session.frame(built).to_dicts())
    assert [entry["step"] for entry in sheet if entry["result"] == "failed"] == [
        *([step] if step else [])
    ]
    assert verdict(sheet) == ("failed" if step else "passed")
    lines = sheet_lines([RUN], sheet, verdict(sheet))
    assert max(map(cell_len, lines)) <= 100
    assert (lines[-1] == "passed: 6 of 6 steps passed") is (step is None)


def test_exit_codes_say_how_it_went(settings: Path) -> None:
    codes = {
        runs: podledger("accept", *runs, "--config", str(settings)).code
        for runs in ((GOOD,), (BAD,), (DARK,), (GOOD, DARK), (GOOD, BAD), ("d" * 32,))
    }
    assert list(codes.values()) == [0, 1, 3, 0, 1, 2]


def test_a_catalogue_that_is_absent_or_damaged_is_named(tmp_path: Path) -> None:
    (tmp_path / "podledger.yaml").write_text(SETTINGS, encoding="utf-8")
    config = ("--config", str(tmp_path / "podledger.yaml"))
    absent = podledger("accept", GOOD, *config)
    load_settings(tmp_path / "podledger.yaml").catalog_path.write_bytes(b"no database")
    damaged = podledger("accept", GOOD, *config)
    for refused, said in ((absent, "is absent"), (damaged, "cannot be opened")):
        assert (refused.code, refused.out) == (2, "")
        assert said in refused.err.replace("\n", " ")


def test_the_sheet_fits_and_shows_hostile_text_as_it_is(settings: Path) -> None:
    lines = podledger("accept", GOOD, "--config", str(settings)).out.splitlines()
    assert max(map(cell_len, lines)) <= 100
    assert lines[0] == f"acceptance of run {GOOD}"
    assert lines[-1] == "passed: 6 of 6 steps passed"
    assert "[red]why\\x1b 1[/red]" in "\n".join(lines)
    assert "0" * 30 + "10" in "\n".join(lines)


def test_scripts_read_json(settings: Path) -> None:
    done = podledger("accept", BAD, "--json", "--config", str(settings))
    found = json.loads(done.out)
    assert (found["runs"], found["result"]) == ([BAD], "failed")
    assert [step["result"] for step in found["steps"]] == [
        "passed", "passed", "passed", "passed", "not_observable", "failed",
    ]  # fmt: skip
    assert found["steps"][0]["evidence_ids"][0] == "0" * 30 + "10"


def test_a_step_passes_if_one_run_passes_and_none_fails() -> None:
    rows = [*checks(GOOD), *checks(DARK, submitted="not_observable", cleaned_up="failed")]
    sheet = {entry["step"]: entry for entry in together(rows)}
    assert sheet["submitted"]["result"] == "passed"
    assert sheet["submitted"]["runs"] == [GOOD]
    assert sheet["cleaned_up"]["result"] == "failed"
    assert sheet["cleaned_up"]["runs"] == [DARK]
    assert verdict(list(sheet.values())) == "failed"
