"""`podledger compare`: two runs, two groups, and what is refused."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import OTHER_RUN, ROWS, RUN, small_catalogue

START = dt.datetime(2026, 3, 10, 8, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)
HOSTILE = "[red]数\x1b[2J" * 40


def wait(run: str, stage: str, cause: str, first: int, last: int, **more: Any) -> dict[str, Any]:
    return {
        "wait_id": f"{run}{first}", "cluster": "alder", "run_uuid": run, "attempt": 1,
        "pod_uid": run[:4], "container": "train", "container_role": "main", "stage": stage,
        "cause": cause, "start_at": START + first * SECOND, "end_at": START + last * SECOND,
        "duration_us": (last - first) * 1_000_000,
    } | more  # fmt: skip


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Two runs of one project, of which the second has other code and took 60 s longer."""
    first, second = ROWS["runs"]
    ended = {"end_at": START + 3_600 * SECOND, "project": "vision"}
    later = {**ended, "start_at": START + dt.timedelta(days=1)}
    monkeypatch.setitem(ROWS, "runs", [
        {**first, **ended, "start_at": START, "code_revision": "9f1c2ab"},
        {**second, **later, "code_revision": "0badc0d", "name": HOSTILE},
    ])  # fmt: skip
    monkeypatch.setitem(ROWS, "waits", [
        wait(RUN, "init", "transfer", 0, 10, transferred_bytes=10**9),
        wait(RUN, "compute", "working", 10, 110),
        wait(OTHER_RUN, "init", "transfer", 0, 10, transferred_bytes=10**9),
        wait(OTHER_RUN, "compute", "working", 10, 170),
    ])  # fmt: skip
    seen = getattr(request, "param", 100)
    monkeypatch.setitem(ROWS, "run_coverage", [
        {"run_coverage_id": run, "run_uuid": run, "source": "flows", "expected_us": 100,
         "covered_us": covered, "covered_seconds": 0.0, "coverage_ratio": covered / 100}
        for run, covered in ((RUN, 100), (OTHER_RUN, seen))
    ])  # fmt: skip
    return small_catalogue(tmp_path)


TOLD = """\
difference in time, B less A: 60.0 s
explained by  time    share
code          60.0 s  100 %

differs  of     A        B
code     (run)  9f1c2ab  0badc0d

role  stage    cause     A        B        B-A     bytes A  bytes B  explained by
main  compute  working   100.0 s  160.0 s  60.0 s  -        -        code
main  init     transfer  10.0 s   10.0 s   0.0 s   1.0 GB   1.0 GB   -
not known: data and model versions of A"""


def test_two_runs_are_compared_within_100_columns(config: Path) -> None:
    shown = podledger("compare", RUN, OTHER_RUN, "--config", config)
    assert (shown.code, shown.err) == (0, "")
    assert TOLD in shown.out
    assert max(map(cell_len, shown.out.splitlines())) <= 100
    assert all(line.isprintable() for line in shown.out.splitlines())
    told = json.loads(podledger("compare", RUN, OTHER_RUN, "--json", "--config", config).out)
    assert told["difference_us"] == 60_000_000
    assert told["explained_by"] == [{"factors": ["code"], "duration_us": 60_000_000}]
    assert told["refused"] == []
    same = podledger("compare", RUN, "train [bold]x[/bold]", "--config", config)
    assert (same.code, "nothing is named" in same.out) == (0, True)


def test_groups_are_runs_by_the_day_of_their_first_pod(config: Path) -> None:
    group = ("--project", "vision", "--from", "2026-03-10", "--to", "2026-03-10")
    shown = podledger(
        "compare", *group, "--versus", "2026-03-11..2026-03-11", "--json", "--config", config
    )
    told = json.loads(shown.out)
    assert (told["a"]["run_uuids"], told["b"]["run_uuids"]) == ([RUN], [OTHER_RUN])
    assert told["difference_us"] == 60_000_000
    both = podledger(
        "compare", *group[:-1], "2026-03-11", "--versus", "2026-03-10..2026-03-11", "--config",
        config,
    )  # fmt: skip
    assert "A: project vision, 2026-03-10 to 2026-03-11: mean of 2 run(s)" in both.out
    assert "nothing is named" in both.out


@pytest.mark.parametrize("config", [94], indirect=True)
def test_what_only_one_side_was_seen_doing_is_refused_with_3(config: Path) -> None:
    shown = podledger("compare", RUN, OTHER_RUN, "--config", config)
    assert shown.code == 3
    assert (
        "refused: main init: flows covers 100 % and 94 %: more than 5 percentage points apart"
        in shown.out
    )
    # What states tell is compared all the same.
    assert "code          60.0 s  100 %" in shown.out


def test_what_names_no_two_sides_ends_with_2(config: Path) -> None:
    group = ("--project", "vision", "--from", "2026-03-10", "--to", "2026-03-10")
    for arguments, said in (
        ((RUN, "nobody"), "no run 'nobody'"),
        ((RUN,), "expected A and B, or --project"),
        ((RUN, OTHER_RUN, *group), "expected A and B, or --project"),
        (group, "expected A and B, or --project"),
        ((*group, "--versus", "2026-03-11"), "expected two days"),
        ((*group, "--versus", "2026-03-12..2026-03-11"), "expected a day not after"),
        ((*group, "--versus", "2026-03-12..x"), "expected a day such as"),
        ((*group, "--versus", "2026-04-01..2026-04-02"), "has no run that ended"),
    ):
        refused = podledger("compare", *arguments, "--config", config)
        assert refused.code == 2, arguments
        assert said in refused.err.replace("\n", " "), refused.err
