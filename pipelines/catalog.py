"""The catalogue: one DuckDB file with the marts as tables, replaced as one file.

Analysts open it with the plain `duckdb` package; it needs nothing but itself. Tables carry their
grain and columns their meaning as comments. Of run-level tables the newest row of each run stands
there, with the day it covers in `as_of_date`.

It holds a digest of what it was made from (schema `internal`, table `made_from`): a build that
died behind the last table and in front of the catalogue is finished by the next one.
"""

import os
import shutil
from importlib.resources import files
from pathlib import Path

import duckdb
import polars as pl

from pipelines.damage import REMEDY, reading
from pipelines.errors import LakeWriteError
from pipelines.ledger import EXPORT_FILES, REJECTED_RECORDS, Ledger
from pipelines.parquet import read_files, with_all_columns
from pipelines.publication import content_of, digest
from pipelines.storage import TEMPORARY, Lake, flush
from schemas.registry import tables
from schemas.table import TableSpec
from schemas.views import views

VERSION = 1
"""Raised when what stands in the catalogue changes without a change of schemas or files."""
_MAGIC = slice(8, 12)
"""Where a DuckDB file says that it is one."""
ALSO = (
    "node_coverage", "unconnected_events", "object_transfers", "pod_traffic", "connections",
    "pod_intervals", "image_pulls",
)  # fmt: skip
"""Intermediate tables that answers are checked against; as tables, so that no file is needed."""

MACROS = {
    ("MACRO", "supports"): (
        "supports(min_bytes, max_bytes, threshold): whether a range supports that there were more "
        "bytes: yes if the certain ones exceed the threshold, no if the possible ones do not, "
        "else unknown, as with a null that decides."
    ),
    ("MACRO TABLE", "runs_reading_more_than"): (
        "runs_reading_more_than(threshold): per run, what it received and whether that supports "
        "that it read more; no only if nothing is unmeasured and all sources saw all of it."
    ),
}
"""Macros, with what they say in the catalogue."""


def write_catalog(
    lake: Lake, path: Path, *, threads: int = 2, memory_limit: str | None = None
) -> dict[str, int]:
    """Build the catalogue beside `path` and put it there in one step.

    Who has the old one open goes on reading the old one. Call it under the lake's lock.

    Args:
        lake: The lake.
        path: Where the catalogue stands.
        threads: Threads of the engine.
        memory_limit: Limit such as `2GB`; the engine's default if none. What is more spills beside
            the catalogue.

    Returns:
        Rows by table.

    Raises:
        LakeWriteError: The engine cannot write it: the disk is full, or memory does not suffice;
            or what stands there is no database, and stays.
        LakeDamagedError: A file of the lake is missing or damaged.
    """
    require_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    try:
        with duckdb.connect(str(temporary)) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute(f"SET threads = {int(threads)}")
            if memory_limit is not None:
                connection.execute("SET memory_limit = $limit", {"limit": memory_limit})
            rows = _fill(connection, lake)
            _note(connection, made_from(lake))
            connection.execute("CHECKPOINT")
        lake.hook("before", path)
        temporary.replace(path)
        flush(path.parent)
        lake.hook("after", path)
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        first = str(error).partition("\n")[0]
        message = f"{path}: cannot be written: {first}; the catalogue that stood there stays"
        raise LakeWriteError(message) from None
    finally:
        _sweep(path)
    return rows


def require_replaceable(path: Path) -> None:
    """See that nothing stands where the catalogue goes, or a database: no other file is replaced.

    Raises:
        LakeWriteError: Something else stands there.
    """
    found = None
    if path.is_dir():
        found = "a folder"
    elif path.is_file():
        with path.open("rb") as file:
            head = file.read(_MAGIC.stop)
        found = "another file" if head and head[_MAGIC] != b"DUCK" else None
    elif path.exists():
        found = "a pipe or device"
    if found is not None:
        message = f"catalog: {path}: {found} stands there and stays; expected a DuckDB file or none"
        raise LakeWriteError(message)


def _sweep(path: Path) -> None:
    """Remove what a build, this one or a killed one, left beside the catalogue."""
    for left in path.parent.iterdir():
        # The engine's own files beside a database are named after it: `.wal`, `.tmp`.
        if left.name.startswith(TEMPORARY) and f"-{path.name}" in left.name:
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _fill(connection: duckdb.DuckDBPyConnection, lake: Lake) -> dict[str, int]:
    counts: dict[str, int] = {}
    with reading(lake.everything(), REMEDY):
        for spec in _held():
            _create(connection, lake, spec)
            counted = connection.table(spec.name).count("*").fetchall()
            counts[spec.name] = int(counted[0][0])
    for definitions in _definitions():
        connection.execute(definitions)
    # One transaction: each of a thousand comments would be flushed to the disk on its own.
    connection.begin()
    _comment(connection)
    connection.commit()
    return counts


def _held() -> list[TableSpec]:
    """Tables that the catalogue holds."""
    return [s for n, s in tables().items() if s.layer in {"ledger", "marts"} or n in ALSO]


def _definitions() -> list[str]:
    """Views and macros over the marts, as text."""
    folder = files("transforms.marts")
    names = ("dependencies", "supports")
    return [folder.joinpath(f"{name}.sql").read_text(encoding="utf-8") for name in names]


def made_from(lake: Lake) -> str:
    """Digest of all that a catalogue written now would be made from."""
    texts = [str(VERSION), *_definitions()]
    texts.extend(repr(spec) for spec in (*_held(), *views().values()))
    for spec in _held():
        for path in _paths(lake, spec):
            # Rejects are written once under one name; of commits the ledger tells what they list.
            is_kept = spec.name in {EXPORT_FILES, REJECTED_RECORDS}
            content = None if is_kept else content_of(path)
            texts.append(f"{spec.name} {path.parent.name} {path.name} {content}")
    texts.extend(f"{day} {part}" for day, part in sorted(Ledger.read(lake).listed))
    return digest(texts)


def is_current(lake: Lake, path: Path) -> bool:
    """Whether a catalogue holds what is published."""
    if not path.is_file():
        return False
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            rows = connection.execute(f"SELECT digest FROM {_note_of(connection)}").fetchall()  # noqa: S608  ours
    except duckdb.Error:
        return False
    return rows == [(made_from(lake),)]


def _note(connection: duckdb.DuckDBPyConnection, found: str) -> None:
    name = _note_of(connection)
    connection.execute(f"CREATE SCHEMA {name.rpartition('.')[0]}")
    connection.execute(f"CREATE TABLE {name} (digest VARCHAR)")
    connection.execute(f"INSERT INTO {name} VALUES ($found)", {"found": found})  # noqa: S608  ours
    connection.execute(f"COMMENT ON TABLE {name} IS 'What this catalogue was made from.'")
    connection.execute(f"COMMENT ON COLUMN {name}.digest IS 'Digest of the published files.'")


def _note_of(connection: duckdb.DuckDBPyConnection) -> str:
    """Name of the note's table, with the database: that may be called like any schema."""
    ((database,),) = connection.execute("SELECT current_database()").fetchall()
    quoted = str(database).replace('"', '""')
    return f'"{quoted}".internal.made_from'


def _paths(lake: Lake, spec: TableSpec) -> list[Path]:
    """Published files of a table, by day."""
    if spec.name == REJECTED_RECORDS:
        return Ledger.read(lake).reject_paths()
    return [p for day in lake.days(spec.name) for p in lake.files(spec.name, day)]


def _create(connection: duckdb.DuckDBPyConnection, lake: Lake, spec: TableSpec) -> None:
    """Make one table, in the order of days and of the published rows."""
    paths = _paths(lake, spec)
    columns = ", ".join(f'"{c.name}"' for c in spec.columns)
    dated = spec.layer in {"intermediate", "marts"}
    empty = spec.empty()
    if dated:
        empty = empty.with_columns(date=pl.lit(None, pl.Date))
        columns = f'"date", {columns}'
    connection.register("no_rows", empty.to_arrow(compat_level=pl.CompatLevel.oldest()))
    connection.execute(f'CREATE TABLE "{spec.name}" AS SELECT {columns} FROM no_rows')  # noqa: S608
    connection.unregister("no_rows")
    if paths:
        rows = with_all_columns(read_files(connection, paths, dated=dated), spec).project(columns)
        if not (dated and len({path.parent for path in paths}) == len(paths)):
            order = (*(("date",) if dated else ()), *spec.order)
            rows = rows.order(", ".join(f'"{c}" NULLS LAST' for c in order))
        # One file a day is in order, and so are days: sorting would move every row once more.
        rows.insert_into(spec.name)
    if spec.as_of:
        _keep_newest(connection, spec)


def _keep_newest(connection: duckdb.DuckDBPyConnection, spec: TableSpec) -> None:
    """Keep each run's rows of its newest day and name the day `as_of_date`."""
    connection.execute(
        f'DELETE FROM "{spec.name}" AS t WHERE t."date" < ('  # noqa: S608
        f'SELECT MAX(n."date") FROM "{spec.name}" AS n WHERE n.run_uuid = t.run_uuid)'
    )
    connection.execute(f'ALTER TABLE "{spec.name}" RENAME "date" TO as_of_date')


def _comment(connection: duckdb.DuckDBPyConnection) -> None:
    existing = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
    for name, spec in (tables() | views()).items():
        if name not in existing:
            continue
        kind = "VIEW" if name in views() else "TABLE"
        connection.execute(f'COMMENT ON {kind} "{name}" IS {_literal(spec.grain)}')
        for column in spec.columns:
            text = column.description
            if column.unit:
                text += f" Unit: {column.unit}."
            if column.nullable:
                text += f" Null: {column.null_meaning}."
            if column.adds_up:
                within = " of one ".join(("", *spec.adds_within))
                text += f" Adds up over rows{within}."
            connection.execute(f'COMMENT ON COLUMN "{name}"."{column.name}" IS {_literal(text)}')
        day = "as_of_date" if spec.as_of else "date"
        if spec.layer in {"intermediate", "marts"} and kind == "TABLE":
            meaning = "Day that the row covers a life up to." if spec.as_of else "Event day, UTC."
            connection.execute(f'COMMENT ON COLUMN "{name}"."{day}" IS {_literal(meaning)}')

    for (kind, name), meaning in MACROS.items():
        connection.execute(f'COMMENT ON {kind} "{name}" IS {_literal(meaning)}')


def _literal(text: str) -> str:
    # COMMENT ON takes no bound value; the texts are our own, quotes are doubled all the same.
    return "'" + text.replace("'", "''") + "'"


def open_catalog(path: Path) -> duckdb.DuckDBPyConnection:
    """Open the catalogue to read, with access to files and network off."""
    connection = duckdb.connect(str(path), read_only=True)
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
