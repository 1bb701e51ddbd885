"""`query` answers one SELECT as its rows come, and reaches nothing but the catalogue."""

import _thread
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

from pipelines.cli import query as module
from pipelines.cli.query import BLOCK, answering
from tests.pipelines.cli.command import Ended, podledger
from tests.pipelines.cli.small_catalogue import small_catalogue


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Settings of a lake with a catalogue."""
    return small_catalogue(tmp_path_factory.mktemp("lake"))


def queried(config: Path, sql: str, *options: str) -> Ended:
    return podledger("query", sql, *options, "--config", config)


def test_sql_is_answered(config: Path) -> None:
    ended = queried(
        config, "SELECT project, COUNT(*) AS n FROM runs GROUP BY 1 ORDER BY 1", "--json"
    )
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == [{"project": "speech", "n": 1}, {"project": "vision", "n": 1}]
    ended = queried(config, "SELECT 1 AS one, NULL AS none", "--format", "csv")
    assert ended.out == "one,none\n1,\n"


def test_every_mart_is_there_as_a_table_with_comments(config: Path) -> None:
    sql = (
        "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal AND comment IS NULL "
        "UNION ALL SELECT column_name, comment FROM duckdb_columns() "
        "WHERE NOT internal AND table_name IN (SELECT table_name FROM duckdb_tables()) "
        "AND comment IS NULL"
    )
    assert json.loads(queried(config, sql, "--json").out) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_parquet('{folder}/lake/**/*.parquet')",
        "SELECT * FROM read_json('{file}')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_csv('https://example.com/x.csv')",
        "COPY runs TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '{folder}/out.parquet'",
        "EXPORT DATABASE '{folder}/out'",
        "ATTACH '{folder}/other.duckdb'",
        "ATTACH 'https://example.com/x.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CREATE SECRET s (TYPE s3)",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET temp_directory = '{folder}/spill'",
        "SELECT getenv('HOME')",
        # Variables of the program are no tables.
        "SELECT * FROM relation",
        "SELECT * FROM settings",
        "SELECT * FROM sql",
        # The catalogue is read-only.
        "INSERT INTO runs SELECT * FROM runs",
        "DELETE FROM runs",
        "UPDATE runs SET project = 'x'",
        "DROP TABLE runs",
        "CREATE TABLE t AS SELECT 1",
        "SELECT 1; DROP TABLE runs",
        # No SQL.
        "SELEC 1",
        "SELECT FROM WHERE",
        "",
        "/* nothing */",
        "SELECT nonsense FROM runs",
        "SELECT 1 / (SELECT project FROM runs LIMIT 1)",
        "SELECT error('at row ' || project) FROM runs",
    ],
)
def test_nothing_else_can_be_reached_or_changed(config: Path, tmp_path: Path, sql: str) -> None:
    file = tmp_path / "file.csv"
    file.write_text("a,b\n1,2\n")
    before = {p: p.read_bytes() for p in config.parent.rglob("*") if p.is_file()}
    ended = queried(config, sql.format(file=file, folder=tmp_path))
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert ended.code == 2
    assert ended.err.startswith("error: query: ")
    assert sorted(tmp_path.iterdir()) == [file]
    assert {p: p.read_bytes() for p in config.parent.rglob("*") if p.is_file()} == before


def test_an_absent_or_broken_catalogue_is_said(config: Path, tmp_path: Path) -> None:
    other = tmp_path / "podledger.yaml"
    other.write_bytes(config.read_bytes())
    for command in (("show", "runs"), ("query", "FROM runs")):
        ended = podledger(*command, "--config", other)
        assert (ended.code, ended.out) == (2, "")
        assert "podledger.duckdb is absent; `podledger build` writes it" in ended.err
    (tmp_path / "podledger.duckdb").write_bytes(b"no database" * 1000)
    for command in (("show", "runs"), ("query", "FROM runs")):
        ended = podledger(*command, "--config", other)
        assert (ended.code, ended.out) == (2, "")
        assert "podledger.duckdb cannot be opened: " in ended.err


def test_two_read_at_once(config: Path) -> None:
    with duckdb.connect(str(config.parent / "podledger.duckdb"), read_only=True):
        assert queried(config, "FROM runs").code == 0


@pytest.mark.parametrize(("sql", "count"), [("SELECT 1; SELECT 2", 2), ("", 0), (";", 0)])
def test_a_query_is_one_statement(config: Path, sql: str, count: int) -> None:
    ended = queried(config, sql)
    assert ended.code == 2
    assert f"expected one SELECT, got {count} statements" in ended.err


# -- rows as they come ---------------------------------------------------------------------------

ENDLESS = "SELECT range AS n FROM range(1000000000000)"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def test_no_more_rows_are_held_than_a_block(connection: duckdb.DuckDBPyConnection) -> None:
    with answering(connection, ENDLESS) as (names, blocks):
        assert names == ["n"]
        assert list(next(blocks)) == [(n,) for n in range(BLOCK)]
        assert next(blocks)[0] == (BLOCK,)


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_rows_of_several_blocks_are_all_there(config: Path, form: str) -> None:
    ended = queried(config, f"FROM range({2 * BLOCK + 1})", "--format", form)
    assert (ended.code, ended.err) == (0, "")
    numbers = [word for word in ended.out.replace('"range":', "").split() if word.isdigit()]
    assert numbers == [str(n) for n in range(2 * BLOCK + 1)]


@pytest.mark.parametrize("sql", [ENDLESS, "SELECT count(*) FROM range(1000000000000)"])
def test_ctrl_c_stops_rows_and_what_has_none_yet(config: Path, sql: str) -> None:
    pressed = threading.Event()
    wait = module.wait

    def pressing(*arguments: object) -> object:
        if not pressed.is_set():
            pressed.set()
            _thread.interrupt_main()
        return wait(*arguments)  # type: ignore[arg-type]

    with patch.object(module, "wait", pressing):
        ended = queried(config, sql)
    assert pressed.is_set()
    assert ended.code == 130
    assert ended.err.startswith("error: stopped")


def test_what_fails_behind_the_first_rows_ends_with_its_reason(config: Path) -> None:
    sql = "SELECT CASE WHEN range = 200000 THEN error('at the end') END FROM range(300000)"
    ended = queried(config, sql, "--format", "csv")
    assert ended.code == 2
    assert "at the end" in ended.err
    assert "Traceback" not in ended.err


def test_no_rows_are_said(config: Path) -> None:
    assert queried(config, "FROM runs WHERE false").out == "no rows\n"
    assert queried(config, "FROM runs WHERE false", "--json").out == "[]\n"


# -- values that Python has no word for ----------------------------------------------------------


def test_an_endless_day_is_no_first_day(config: Path) -> None:
    sql = (
        "SELECT DATE '-infinity' AS a, DATE 'infinity' AS b, TIMESTAMP '-infinity' AS c, "
        "TIMESTAMPTZ 'infinity' AS d, DATE '0001-01-01' AS e, NULL::DATE AS f, TIMESTAMP_S "
        "'infinity' AS g, TIMESTAMP_NS '-infinity' AS h, ';' AS i ; -- ; the end"
    )
    (row,) = json.loads(queried(config, sql, "--json").out)
    assert list(row.values()) == [
        "-infinity", "infinity", "-infinity", "infinity", "0001-01-01", None, "infinity",
        "-infinity", ";",
    ]  # fmt: skip


def test_days_do_not_change_the_order_or_the_names_of_rows(config: Path) -> None:
    sql = (
        "SELECT DATE '2026-03-10' + CAST(range AS INTEGER) AS a, range AS a "
        "FROM range(3) ORDER BY 2 DESC"
    )
    assert json.loads(queried(config, sql, "--json").out) == [
        {"a": "2026-03-12", "a_1": 2},
        {"a": "2026-03-11", "a_1": 1},
        {"a": "2026-03-10", "a_1": 0},
    ]


def test_a_value_that_cannot_be_shown_is_said(config: Path) -> None:
    ended = queried(config, "SELECT INTERVAL 5000000 YEAR")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: query: ")
    assert "expected such a value cast to VARCHAR" in ended.err
