"""The shipped fixture days: lay them out as a landing zone, and compare a lake with their answers.

The exports are committed as readable text; where a pattern of the settings ends in .gz or .zst the
copy is compressed, as a platform would deliver it.
"""

import csv
import gzip
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import yaml

from pipelines.cli.output import plain
from pipelines.errors import InputError
from pipelines.path_patterns import PathPattern
from pipelines.storage import Lake

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
        (PathPattern.compile(str(export["path"]).removesuffix(ending)), ending)
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
        endings = [ending for pattern, ending in packed if pattern.regex.match(relative)]
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


def compare(lake: Lake, expected: Path = FIXTURES / "expected") -> list[Difference]:
    """Compare a lake with every expected table; an empty list means that all numbers are met."""
    found: list[Difference] = []
    with (expected / "keys.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.extend(
                _compare_table(
                    lake,
                    row["table"],
                    expected / f"{row['table']}.csv",
                    row["key"].split(";"),
                    row.get("rows_where") or "TRUE",
                )
            )
    return found


def _compare_table(
    lake: Lake, table: str, path: Path, key: list[str], rows_where: str
) -> Iterator[Difference]:
    with path.open(encoding="utf-8", newline="") as file:
        wanted_rows = list(csv.DictReader(file))
    columns = list(wanted_rows[0]) if wanted_rows else key
    actual_rows = _actual(lake, table, columns, rows_where)
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


def _actual(lake: Lake, table: str, columns: list[str], rows_where: str) -> list[dict[str, str]]:
    paths = [str(p) for day in lake.days(table) for p in lake.files(table, day)]
    if not paths:
        return []
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        relation = connection.read_parquet(paths, hive_partitioning=True, union_by_name=True)
        listed = ", ".join(f'"{column}"' for column in columns)
        rows = relation.filter(rows_where).project(listed).fetchall()
    return [dict(zip(columns, map(_cell, row), strict=True)) for row in rows]


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
