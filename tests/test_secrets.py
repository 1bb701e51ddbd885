"""No secret that an export, a setting or a command holds is ever written or printed."""

import datetime as dt
import io
import json
import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.errors import SettingsError
from pipelines.fixtures import FIXTURES, lay_out
from pipelines.landing.formats import parsers
from pipelines.landing.land import land
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import tables
from tests.canaries.every_place import planted_formats
from tests.canaries.planter import Canary, Planter
from tests.canaries.search import everything_below, leaks
from tests.canaries.zone import write_settings, write_zone
from tests.pipelines.cli.command import podledger

LANDING_DAY = dt.date(2026, 3, 20)


@dataclass
class Searched:
    """What was planted, and what was written and printed."""

    planter: Planter
    written: dict[str, str]

    @property
    def leaks(self) -> list[str]:
        """Secrets that stand anywhere, by kind and place."""
        return sorted(set(leaks(self.planter.canaries, self.written)))

    @property
    def lost(self) -> list[str]:
        """Harmless neighbours that stand nowhere."""
        everything = "\n".join(self.written.values())
        return [word for word in self.planter.neighbours if word not in everything]


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """The planted exports, landed."""
    folder, planter = tmp_path_factory.mktemp("landed"), Planter()
    settings = load_settings(write_zone(folder, planter))
    report = land(settings, Lake(settings.lake_path), LANDING_DAY)
    assert report.unknown == []
    return Searched(planter, everything_below(settings.lake_path))


def test_every_secret_stands_in_the_exports_where_the_search_finds_it(tmp_path: Path) -> None:
    planter = Planter()
    write_zone(tmp_path, planter)
    found = {
        leak.split(" stands in ")[0] for leak in leaks(planter.canaries, everything_below(tmp_path))
    }
    assert found == {str(canary) for canary in planter.canaries}
    assert len(planter.canaries) > 1_000


def test_a_secret_is_found_in_every_kind_of_file(tmp_path: Path) -> None:
    secret = "abcdefghijklmnopqrst"
    nested = [{"a": [{"name": "x", "value": f"before {secret.upper()} behind"}]}]
    pq.write_table(pa.table({"cell": nested}), tmp_path / "a.parquet", compression="zstd")
    with duckdb.connect(str(tmp_path / "b.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT [$secret] AS cell", {"secret": secret})
    with sqlite3.connect(tmp_path / "c.db") as history:
        history.execute("CREATE TABLE t (cell TEXT)")
        history.execute("INSERT INTO t VALUES (?)", (secret,))
    history.close()
    (tmp_path / "d.log").write_text(f"only its end: {secret[-12:]}")
    canary = Canary(0, "word", "a test", (secret,))
    assert leaks([canary], everything_below(tmp_path)) != []
    found = {leak.rpartition(" ")[2] for leak in leaks([canary], everything_below(tmp_path))}
    assert found == {"a.parquet", "b.duckdb", "c.db", "d.log"}


def test_no_secret_of_an_export_is_landed(landed: Searched) -> None:
    assert landed.leaks == []


def test_no_secret_is_landed_where_big_files_are_read_by_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.landing.parsing.COLUMNS_FROM", 0)
    planter = Planter()
    settings = load_settings(write_zone(tmp_path, planter))
    land(settings, Lake(settings.lake_path), LANDING_DAY)
    searched = Searched(planter, everything_below(settings.lake_path))
    assert (searched.leaks, searched.lost) == ([], [])


def test_what_stands_beside_a_secret_is_landed(landed: Searched) -> None:
    assert landed.lost == []


def test_rows_and_rejects_of_every_format_were_searched(landed: Searched) -> None:
    names = {name.partition("/")[0] for name in landed.written if name.endswith(".parquet")}
    filled = {table for name in planted_formats() for table in parsers()[name].tables}
    assert names == {*filled, "export_files", "rejected_records"}


# -- the whole way -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """The planted exports, built into a lake and a catalogue, and every command that reads them."""
    folder, planter = tmp_path_factory.mktemp("built"), Planter()
    settings = write_zone(folder, planter)
    log = logging.StreamHandler(io.StringIO())
    logging.getLogger().addHandler(log)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DAGSTER_HOME", str(folder / "history"))
            printed = {name: "".join(parts) for name, parts in _commands(folder, settings)}
    finally:
        logging.getLogger().removeHandler(log)
    printed["the log"] = log.stream.getvalue()
    files = everything_below(folder)
    exports = {name for name in files if name.startswith("in/")}
    written = {name: text for name, text in files.items() if name not in exports}
    return Searched(planter, written | {name: text.lower() for name, text in printed.items()})


def _commands(folder: Path, settings: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name and output of each command."""
    lake = folder / "lake"

    def run(*arguments: object, codes: tuple[int, ...] = (0, 2, 3)) -> tuple[str, tuple[str, str]]:
        ended = podledger(*arguments)
        assert ended.code in codes, ended.err.splitlines()[:1]
        return " ".join(map(str, arguments)), (ended.out, ended.err)

    yield run("build", "--config", settings)
    yield run("build", "--config", settings, "--json")
    yield run("status", "--config", settings)
    exports = sorted(path for path in (folder / "in").rglob("*") if path.is_file())
    yield run("check", *exports[::4])
    yield run("check", "--json", *exports)
    for table in tables():
        yield run("show", table, "--config", settings, "--format", "json", "--limit", "1000")
    for table in ("object_requests", "flows", "run_versions"):
        for path in sorted(lake.glob(f"{table}/*/*.parquet")):
            for record_id in pq.read_table(path)["record_id"].to_pylist()[:1]:
                yield run("explain", record_id, "--config", settings)
    yield run("query", "SELECT * FROM rejected_records", "--config", settings, "--json")
    runs = runs_of(folder / "podledger.duckdb")
    for (a, name), (b, _) in zip(runs, runs[1:] + runs[:1], strict=True):
        for form in ((), ("--json",)):
            yield run("manifest", a, "--config", settings, *form, codes=(0,))
            yield run("compare", a, b, "--config", settings, *form, codes=(0, 3))
            # The sheet says with 1 that a step failed.
            yield run("accept", a, "--config", settings, *form, codes=(0, 1, 3))
        yield run("manifest", name or b, "--config", settings)


def runs_of(catalogue: Path) -> list[tuple[str, str | None]]:
    """Uuid and name of the runs that the exports tell of."""
    with duckdb.connect(str(catalogue), read_only=True) as connection:
        query = "SELECT run_uuid, MIN(name) FROM runs GROUP BY run_uuid ORDER BY run_uuid"
        return connection.execute(query).fetchall()


def test_no_secret_of_an_export_is_built_or_printed(built: Searched) -> None:
    assert built.leaks == []


def test_what_stands_beside_a_secret_survives_the_build(built: Searched) -> None:
    assert built.lost == []


def test_lake_catalogue_history_and_output_were_searched(built: Searched) -> None:
    names = set(built.written)
    assert "podledger.duckdb" in names
    assert any(name.startswith("history/") and name.endswith(".db") for name in names)
    assert any(name.startswith("lake/run_dependency_days/") for name in names)
    assert any(name.startswith("show run_versions ") for name in names)
    of_runs = [name.split()[0] for name in names if name.startswith(("manifest", "compare", "acc"))]
    assert all(of_runs.count(command) >= 2 for command in ("manifest", "compare", "accept"))
    assert any("what ran" in text for name, text in built.written.items() if "manifest" in name)


# -- fixtures ------------------------------------------------------------------------------------


def test_no_planted_secret_of_the_fixtures_is_landed(tmp_path: Path) -> None:
    planted = (FIXTURES / "planted_secrets.txt").read_text().split()
    assert len(planted) == len(set(planted)) > 10
    settings = load_settings(lay_out(tmp_path))
    report = land(settings, Lake(settings.lake_path), LANDING_DAY)
    assert report.unknown == []
    assert report.records["accepted"] > 1_000
    canaries = [
        Canary(n, "fixture", f"line {n + 1} of planted_secrets.txt", (text.lower(),))
        for n, text in enumerate(planted)
    ]
    everything = everything_below(settings.lake_path)
    found = [
        f"{canary} stands in {name}"
        for canary in canaries
        for name, text in everything.items()
        if canary.forms[0] in text
    ]
    assert found == []


# -- settings and commands -----------------------------------------------------------------------

GOOD = "lake: lake\ncatalog: c\nclusters: {a: {}}\n"
WRONG = [
    # (settings with @ for a secret, what the message must name)
    (f"{GOOD}exports: []\nmemory_limit: '@'", "memory_limit"),
    (f"{GOOD}exports: []\nfinal_after: '@'", "final_after"),
    (f"{GOOD}exports: []\nworkers: '@'", "workers"),
    (f"{GOOD}exports: []\nlook_back: {{pods: '@'}}", "look_back.pods"),
    (f"{GOOD}exports: []\nbuckets: '@'", "buckets"),
    (f"{GOOD}exports: []\nsecret_key: '@'", "secret_key"),
    (f"{GOOD}exports: '@'", "exports"),
    (f"{GOOD}exports: [{{name: x, path: 'in/@/../x'}}]", "exports.0.path"),
    (f"{GOOD}exports: [{{name: x, path: 'in/{{@}}'}}]", "exports.0.path"),
    (f"{GOOD}exports: [{{name: x, path: in, format: '@'}}]", "exports.0.format"),
    (f"{GOOD}exports: [{{name: x, path: in, clusters: ['@']}}]", "exports.x.clusters"),
    (f"{GOOD}exports: [{{name: x, path: in, expect: {{every: '@'}}}}]", "expect.every"),
    (f"{GOOD}exports: [{{name: x, path: in, temporality: '@'}}]", "temporality"),
    ("lake: ['@']\ncatalog: c\nclusters: {a: {}}\nexports: []", "lake"),
    ("lake: lake\ncatalog: c\nclusters: {'@': {}}\nexports: []", "clusters"),
    ("lake: l\ncatalog: c\nclusters: {a: {account_id: ['@']}}\nexports: []", "account_id"),
    ("lake: lake\nx: '@'\n  y: [", "is no YAML"),
    ("'@'", "expected a mapping"),
]


@pytest.mark.parametrize(("text", "key"), WRONG, ids=[key for _, key in WRONG])
def test_a_wrong_setting_is_named_without_the_secret_in_it(
    tmp_path: Path, text: str, key: str
) -> None:
    path = tmp_path / "podledger.yaml"
    for number in range(len(Planter().of_every_shape("a setting"))):
        planter = Planter()
        secret = planter.of_every_shape("a setting")[number].replace("\n", " ").replace('"', "")
        path.write_text(text.replace("@", secret), encoding="utf-8")
        code, found = searched(planter, "build", "--config", path)
        assert (code, found) == (2, [])
        assert key in podledger("build", "--config", path).err


def searched(planter: Planter, *command: object) -> tuple[int, list[str]]:
    """Exit code of a command, and which secrets it printed."""
    ended = podledger(*command)
    return ended.code, leaks(planter.canaries, {"the output": (ended.out + ended.err).lower()})


def land_all_of(settings_file: Path) -> None:
    settings = load_settings(settings_file)
    land(settings, Lake(settings.lake_path), LANDING_DAY)


def test_a_wrong_key_file_is_named_without_the_secret_in_its_path(tmp_path: Path) -> None:
    path = write_settings(tmp_path)
    export = tmp_path / "in" / "coredns" / "2026-03-10" / "node-1.log"
    export.parent.mkdir(parents=True)
    export.write_text("a line\n")
    text = path.read_text()
    for number in range(len(Planter().of_every_shape("a setting"))):
        planter = Planter()
        secret = planter.of_every_shape("a setting")[number].replace("\n", " ").replace('"', "")
        path.write_text(text.replace("redaction.key", f"'x/{secret}'"))
        with pytest.raises(SettingsError) as raised:
            land_all_of(path)
        message = str(raised.value)
        assert leaks(planter.canaries, {"the message": message.lower()}) == []
        assert "redaction_key_file: " in message


def test_an_error_of_a_query_shows_no_secret(tmp_path: Path) -> None:
    planter = Planter()
    settings = write_settings(tmp_path)
    with duckdb.connect(str(tmp_path / "podledger.duckdb")) as connection:
        connection.execute("CREATE TABLE runs AS SELECT 1 AS a")
    for text in planter.of_every_shape("a query"):
        for argument in (json.dumps(text), f"'{text}'"):
            sql = f"SELECT nothing({argument}) FROM runs"
            assert searched(planter, "query", sql, "--config", settings) == (2, [])


def test_options_that_are_wrong_show_no_secret(tmp_path: Path) -> None:
    planter = Planter()
    settings = write_settings(tmp_path)
    for secret in planter.of_every_shape("an option"):
        text = f"x {secret}"  # what begins with a dash would be taken for an option
        if '"' not in text:  # no name of a file is JSON
            assert searched(planter, "check", text) == (2, [])
        for command in (
            ("check", "--format", text, settings),
            ("dictionary", text),
            ("build", "--date", text, "--config", settings),
            ("build", "--cluster", text, "--config", settings),
            ("show", text, "--config", settings),
        ):
            assert searched(planter, *command) == (2, [])
        if "//" not in text:  # a path has no two slashes
            assert searched(planter, "status", "--config", text) == (2, [])
