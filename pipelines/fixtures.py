"""The shipped fixture days: lay them out as a landing zone, and compare a lake with their answers.

The exports are committed as readable text; where a pattern of the settings ends in .gz or .zst the
copy is compressed, as a platform would deliver it.
"""

import csv
import gzip
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import yaml

from pipelines.cli.output import plain
from pipelines.errors import InputError
from pipelines.ledger import EXPORT_FILES, REJECTED_RECORDS
from pipelines.parquet import read_files
from pipelines.path_patterns import PathPattern
from pipelines.storage import Lake
from schemas.registry import tables

FIXTURES = Path(__file__).parents[1] / "data" / "fixtures"
NOT_FIXED = "?"
"""In an expected cell: the scenario does not fix this value."""


@dataclass(frozen=True)
class Difference:
    """One way in which a lake differs from the expected answers.

    Attributes:
        table: Table.
        key: The row's key, as `column=value`.
        what: What differs.
    """

    table: str
    key: str
    what: str


def lay_out(target: Path, fixtures: Path = FIXTURES) -> Path:
    """Copy the fixtures into a folder as a landing zone.

    Returns:
        The settings file there.

    Raises:
        InputError: The fixtures are not there (they come with a checkout, not with a wheel).
    """
    settings = fixtures / "podledger.yaml"
    if not settings.is_file():
        message = f"{settings}: absent; expected a checkout of the repository"
        raise InputError(message)
    target.mkdir(parents=True, exist_ok=True)
    content = yaml.safe_load(settings.read_text(encoding="utf-8"))
    packed = [
        (
            PathPattern.compile(str(export["path"]).removesuffix(ending)),
            ending,
            tuple(export.get("clusters", content["clusters"])),
        )
        for export in content["exports"]
        for ending in (".gz", ".zst")
        if str(export["path"]).endswith(ending)
    ]
    for name in ("podledger.yaml", str(content["redaction_key_file"])):
        shutil.copyfile(fixtures / name, target / name)
    for source in sorted((fixtures / "exports").rglob("*")):
        if not source.is_file():
            continue
        relative = source.relative_to(fixtures).as_posix()
        endings = [
            ending
            for pattern, ending, clusters in packed
            if (facts := pattern.facts(relative)) and facts.cluster in {None, *clusters}
        ]
        _copy(source, target / relative, endings[0] if endings else "")
    return target / "podledger.yaml"


def _copy(source: Path, target: Path, ending: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if ending == ".gz":
        target.with_name(target.name + ending).write_bytes(
            gzip.compress(source.read_bytes(), mtime=0)
        )
    elif ending == ".zst":
        with pa.output_stream(f"{target}{ending}", compression="zstd") as stream:
            stream.write(source.read_bytes())
    else:
        shutil.copyfile(source, target)


def compare(lake: Lake, folder: Path, expected: Path = FIXTURES / "expected") -> list[Difference]:
    """Compare a lake with every expected table; an empty list means that all numbers are met.

    Args:
        lake: The lake.
        folder: Folder that the exports were laid out in; expected paths are relative to it.
        expected: Folder of the expected tables.
    """
    found: list[Difference] = []
    with (
        (expected / "keys.csv").open(encoding="utf-8", newline="") as file,
        duckdb.connect() as connection,
    ):
        connection.execute("SET TimeZone = 'UTC'")
        _show_lake(connection, lake, folder)
        for row in csv.DictReader(file):
            found.extend(
                _compare_table(
                    connection.sql(f"FROM {row['relation']}"),
                    row["table"],
                    expected / f"{row['table']}.csv",
                    row["key"].split(";"),
                    row["rows_where"] or "TRUE",
                )
            )
    return found


def _show_lake(connection: duckdb.DuckDBPyConnection, lake: Lake, folder: Path) -> None:
    """Show every table of the lake with its day, and files by path instead of id."""
    for name, spec in tables().items():
        paths = [p for day in lake.days(name) for p in lake.files(name, day)]
        if spec.layer == "staging":
            continue
        if paths:
            relation = read_files(connection, paths, dated=True)
        else:
            empty = spec.empty().with_columns(date=pl.lit(None, pl.Date))
            connection.register(f"{name}_none", empty.to_arrow())
            relation = connection.table(f"{name}_none")
        if name == REJECTED_RECORDS:
            # Expected rejects state the word that a reason begins with.
            relation = relation.project("* REPLACE (split_part(reason, ':', 1) AS reason)")
        relation.create_view(f"{name}_files" if name == EXPORT_FILES else name)
    connection.execute(
        f"""
        CREATE TABLE {EXPORT_FILES} AS
        SELECT
            f.* REPLACE (
                replace(f.path, $folder, '') AS path,
                replace(s.path, $folder, '') AS same_content_as,
                replace(g.path, $folder, '') AS grown_from
            )
        FROM {EXPORT_FILES}_files AS f
        LEFT JOIN {EXPORT_FILES}_files AS s ON f.same_content_as = s.export_file_id
        LEFT JOIN {EXPORT_FILES}_files AS g ON f.grown_from = g.export_file_id
        """,  # noqa: S608  names of our schema
        {"folder": f"{folder.resolve().as_posix()}/"},
    )
    script = files("transforms.marts").joinpath("dependencies.sql").read_text(encoding="utf-8")
    connection.execute(script)


def _compare_table(
    relation: duckdb.DuckDBPyRelation, table: str, path: Path, key: list[str], rows_where: str
) -> Iterator[Difference]:
    with path.open(encoding="utf-8", newline="") as file:
        wanted_rows = list(csv.DictReader(file))
    columns = list(wanted_rows[0]) if wanted_rows else key
    listed = ", ".join(f'"{column}"' for column in columns)
    rows = relation.filter(rows_where).project(listed).fetchall()
    actual_rows = [dict(zip(columns, map(_cell, row), strict=True)) for row in rows]
    wanted = _by_key(wanted_rows, key)
    actual = _by_key(actual_rows, key)
    for name in sorted(wanted.keys() - actual.keys()):
        yield Difference(table, _shown(key, name), "expected row is missing")
    for name in sorted(actual.keys() - wanted.keys()):
        yield Difference(table, _shown(key, name), "row is not expected")
    for name in sorted(wanted.keys() & actual.keys()):
        if len(wanted[name]) != len(actual[name]):
            what = f"{len(actual[name])} rows, expected {len(wanted[name])}"
            yield Difference(table, _shown(key, name), what)
            continue
        for want, have in zip(wanted[name], actual[name], strict=True):
            for column in columns:
                if want[column] not in {NOT_FIXED, have[column]}:
                    what = f"{column} is {have[column]!r}, expected {want[column]!r}"
                    yield Difference(table, _shown(key, name), what)


def _cell(value: Any) -> str:  # noqa: ANN401  any cell
    """A cell as expected/ writes it: null empty, lists joined by `;`, times in microseconds."""
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ";".join(_cell(item) for item in value)
    return str(value)


def _by_key(
    rows: list[dict[str, str]], key: list[str]
) -> dict[tuple[str, ...], list[dict[str, str]]]:
    found: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault(tuple(row[k] for k in key), []).append(row)
    for group in found.values():
        group.sort(key=lambda row: sorted(row.items()))
    return found


def _shown(key: list[str], values: tuple[str, ...]) -> str:
    return ", ".join(f"{k}={v}" for k, v in zip(key, values, strict=True) if v)
