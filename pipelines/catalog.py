"""The catalogue: one DuckDB file with the marts as tables, replaced as one file.

Analysts open it with the plain `duckdb` package; it needs nothing but itself. Tables carry their
grain and columns their meaning as comments. Of run-level tables the newest row of each run stands
there, with the day it covers in `as_of_date`.
"""

import os
import shutil
from importlib.resources import files
from pathlib import Path

import duckdb
import polars as pl

from pipelines.parquet import read_files
from pipelines.storage import TEMPORARY, Lake, flush
from schemas.registry import tables
from schemas.table import TableSpec
from schemas.views import views

ALSO = ("node_coverage", "object_transfers", "pod_traffic", "connections", "pod_intervals")
"""Intermediate tables that answers are checked against; as tables, so that no file is needed."""


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
    """
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
            connection.execute("CHECKPOINT")
        lake.hook("before", path)
        temporary.replace(path)
        flush(path.parent)
        lake.hook("after", path)
    finally:
        _sweep(path)
    return rows


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
    for name, spec in tables().items():
        if spec.layer in {"ledger", "marts"} or name in ALSO:
            _create(connection, lake, spec)
            counted = connection.table(name).count("*").fetchall()
            counts[name] = int(counted[0][0])
    script = files("transforms.marts").joinpath("dependencies.sql").read_text(encoding="utf-8")
    connection.execute(script)
    _comment(connection)
    return counts


def _create(connection: duckdb.DuckDBPyConnection, lake: Lake, spec: TableSpec) -> None:
    """Make one table, in the order of days and of the published rows."""
    paths = [p for day in lake.days(spec.name) for p in lake.files(spec.name, day)]
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
        order = ", ".join(f'"{c}" NULLS LAST' for c in (("date",) if dated else ()) + spec.order)
        rows = read_files(connection, paths, dated=dated)
        rows.project(columns).order(order).insert_into(spec.name)
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
                text += " Adds up over rows."
            connection.execute(f'COMMENT ON COLUMN "{name}"."{column.name}" IS {_literal(text)}')
        day = "as_of_date" if spec.as_of else "date"
        if spec.layer in {"intermediate", "marts"} and kind == "TABLE":
            meaning = "Day that the row covers a life up to." if spec.as_of else "Event day, UTC."
            connection.execute(f'COMMENT ON COLUMN "{name}"."{day}" IS {_literal(meaning)}')


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
