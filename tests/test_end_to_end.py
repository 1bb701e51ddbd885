"""The fixture days through the front door: `podledger demo`, then what people do with it."""

import csv
import datetime as dt
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from pipelines.build import build_day_of, gather, scopes_of, show
from pipelines.emptiness import has_ingredients
from pipelines.fixtures import FIXTURES, compare
from pipelines.ledger import Ledger
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec, tables
from tests.fleet.answer import NOT_STATED, cell
from tests.manifest_truth import check_manifests
from transforms.registry import transforms
from transforms.sql import SqlSession

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def podledger(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in {"DAGSTER_HOME", "COLUMNS"}}
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli.main", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "COLUMNS": "120"},
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    done = podledger("demo", "--into", str(folder))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder, done.stdout


def test_the_demo_meets_every_expected_number(demo: tuple[Path, str]) -> None:
    folder, output = demo
    assert compare(Lake(folder / "lake"), folder) == []
    assert "every number equals the fixtures' expected answers" in output


def test_the_demo_prints_what_it_promises(demo: tuple[Path, str]) -> None:
    _, output = demo
    for title in (
        "Fleet inventory",
        "Repeat transfers",
        "Coverage",
        "Rejected records",
        "catalogue: ",
    ):
        assert title in output
    assert "s3://example-datasets/imagenet-mini" in output


def test_the_demo_says_what_it_leaves_out(demo: tuple[Path, str]) -> None:
    folder, output = demo
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as catalogue:
        ((count,),) = catalogue.execute(
            "SELECT count(*) FROM repeat_transfers "
            "WHERE scope NOT IN ('zone', 'region') AND max_repeat_bytes > 0"
        ).fetchall()
    (line,) = [line for line in output.splitlines() if line.endswith(" 'FROM repeat_transfers'")]
    said, command = line.split("; the whole table: ")
    assert said == f"25 of {count} rows"
    assert re.fullmatch(rf"\S*podledger query --config {folder}/podledger.yaml 'FROM .*'", command)


def test_without_a_row_to_make_rows_of_no_transform_makes_any(demo: tuple[Path, str]) -> None:
    """All else that a day holds is there: what `rows_from` names is all that can make a row."""
    folder, _ = demo
    settings = load_settings(folder / "podledger.yaml")
    lake = Lake(folder / "lake")
    ledger = Ledger.read(lake)
    date = dt.date(2026, 3, 10)
    day = build_day_of(settings, lake, ledger, date, date)
    filled = []
    for table, transform in transforms().items():
        for scope in scopes_of(table_spec(table), settings):
            inputs = gather(settings, lake, ledger, transform, day.of(scope))
            if has_ingredients(transform, inputs.parts, inputs.files):
                filled.append(table)
            for emptied in transform.rows_from:
                for group in (inputs.parts, inputs.files):
                    if emptied in group:
                        group[emptied] = []
            assert has_ingredients(transform, inputs.parts, inputs.files) == (
                not transform.rows_from
            )
            if transform.rows_from:
                with SqlSession() as session:
                    show(session, inputs)
                    made = transform.build(session, day.of(scope))
                    assert session.frame(made).height == 0, (table, scope)
    assert set(filled) == set(transforms())


def sql_blocks() -> list[str]:
    """The README's numbered example queries."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    queries = [q for block in blocks for q in re.split(r"(?m)^(?=-- \d+:)", block)]
    return [q for q in queries if re.match(r"-- \d+:", q)]


@pytest.mark.parametrize("number", range(1, 7))
def test_an_example_query_of_the_readme_returns_the_expected_rows(
    demo: tuple[Path, str], number: int
) -> None:
    folder, _ = demo
    query = next(q for q in sql_blocks() if q.startswith(f"-- {number}:"))
    path = FIXTURES / "expected" / "readme_queries" / f"{number}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        columns = next(reader)
        wanted = sorted(reader)
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        relation = connection.sql(query)
        assert relation.columns == columns
        rows = sorted([cell(value) for value in row] for row in relation.fetchall())
    assert len(rows) == len(wanted)
    for want, have in zip(wanted, rows, strict=True):
        assert [w if w != NOT_STATED else h for w, h in zip(want, have, strict=True)] == have


def test_an_analyst_finds_every_mart_with_comments(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        commented = dict(
            connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall()
        )
        columns = connection.execute(
            "SELECT table_name, column_name, comment FROM duckdb_columns() "
            "WHERE table_name IN (SELECT table_name FROM duckdb_tables())"
        ).fetchall()
        for name, spec in tables().items():
            if spec.layer == "marts":
                assert commented[name] == spec.grain
                assert connection.sql(f"SELECT COUNT(*) FROM {name}").fetchall()[0][0] > 0
    assert not [(t, c) for t, c, comment in columns if not comment]


def test_dependencies_add_up_to_what_the_sources_of_bytes_saw(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        for direction, column in (("receive", "received_bytes"), ("transmit", "sent_bytes")):
            ((chosen, left),) = connection.execute(
                "SELECT sum(chosen_bytes), sum(unattributed_bytes) FROM byte_balance "
                "WHERE direction = $direction",
                {"direction": direction},
            ).fetchall()
            ((shown,),) = connection.sql(f"SELECT sum({column}) FROM dependencies").fetchall()
            ((marts,),) = connection.sql(
                f"SELECT sum({column}) FROM run_dependency_days"
            ).fetchall()
            assert chosen > 0
            assert (shown, marts + left) == (chosen, chosen)


def test_manifests_state_the_truth_of_the_fixture_days(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    assert check_manifests(folder) == 17


def test_a_further_build_says_that_nothing_changed(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    before = {p: p.stat().st_mtime_ns for p in (folder / "lake").rglob("*.parquet")}
    done = podledger("build", "--config", str(folder / "podledger.yaml"))
    assert done.stdout.splitlines()[0] == "nothing changed"
    assert {p: p.stat().st_mtime_ns for p in (folder / "lake").rglob("*.parquet")} == before


def test_a_build_over_a_missing_export_exits_3_and_names_it(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    done = podledger(
        "build", "--date", "2026-03-11", "--json", "--config", str(folder / "podledger.yaml")
    )
    content = json.loads(done.stdout)
    assert done.returncode == 3
    assert content["exit_code"] == 3
    assert any("alder-hubble of 2026-03-11: partial" in line for line in content["missing"])


def test_the_history_stands_in_dagster(demo: tuple[Path, str]) -> None:
    import dagster as dg

    folder, _ = demo
    with dg.DagsterInstance.from_config(str(folder / ".dagster")) as instance:
        runs = instance.get_runs()
        by_job = {(run.job_name, run.tags["dagster/partition"]) for run in runs}
        assert all(run.status is dg.DagsterRunStatus.SUCCESS for run in runs)
    assert {
        ("land", "2026-03-10"),
        ("land", "2026-03-11"),
        ("build", "2026-03-10"),
        ("build", "2026-03-11"),
    } <= by_job


def test_status_names_days_deliveries_rejects_and_coverage(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    done = podledger("status", "--json", "--config", str(folder / "podledger.yaml"))
    assert done.returncode == 0
    content = json.loads(done.stdout)
    assert [(d["date"], d["built"], d["stale"], d["state"]) for d in content["days"]] == [
        ("2026-03-10", True, False, "final"),
        ("2026-03-11", True, False, "final"),
    ]
    partial = [(d["cluster"], d["export"], d["landing_date"]) for d in content["deliveries"]]
    assert ("alder", "alder-hubble", "2026-03-11") in partial
    with (FIXTURES / "expected" / "rejected_records.csv").open(encoding="utf-8") as file:
        rejected = sum(1 for _ in csv.DictReader(file))
    assert sum(r["count"] for r in content["rejects"]) == rejected
    repeats = [r for r in content["look_backs"] if r["look_back"] == "repeats"]
    assert [(r["first"], r["last"]) for r in repeats] == [("2026-02-07", "2026-03-09")]
    assert {row["status"] for row in content["coverage"]} >= {"covered", "missing", "lossy"}


def test_explain_walks_from_a_transfer_back_to_its_line(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as connection:
        ((transfer,),) = connection.execute(
            "SELECT transfer_id FROM object_transfers WHERE request_count = 5 "
            "AND throttled_count = 1"
        ).fetchall()
    done = podledger("explain", transfer, "--json", "--config", str(folder / "podledger.yaml"))
    content = json.loads(done.stdout)
    assert content["table"] == "object_transfers"
    # README of the fixtures, row 6: lines 1 to 5 of this file.
    assert [Path(r["path"]).name for r in content["records"]] == [
        "2026-03-10-23-17-42-QNQSD9RBELD5U1ZR"
    ] * 5
    assert sorted(r["locator"] for r in content["records"]) == [f"line {n}" for n in range(1, 6)]
    assert {r["state"] for r in content["records"]} == {"found"}
    export = Path(content["records"][0]["path"])
    export.rename(export.with_suffix(".moved"))
    gone = json.loads(
        podledger("explain", transfer, "--json", "--config", str(folder / "podledger.yaml")).stdout
    )
    assert {r["state"] for r in gone["records"]} == {"gone"}
    export.with_suffix(".moved").rename(export)


def test_no_planted_secret_is_printed(demo: tuple[Path, str]) -> None:
    _, output = demo
    secrets = (FIXTURES / "planted_secrets.txt").read_text(encoding="utf-8").split()
    assert [n for n, secret in enumerate(secrets) if secret in output] == []
