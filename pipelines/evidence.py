"""Walk back from a row to what it was made from, down to file, line and offset.

Derived rows are followed to the staging records of the same key and time; a staging record is
followed to its export, which is opened again and must still hold it.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from pipelines.build import show_parts
from pipelines.errors import InputError
from pipelines.landing.context import context_of_row
from pipelines.landing.formats import parsers
from pipelines.landing.inputs import local_copy
from pipelines.landing.parsing import parse_records
from pipelines.ledger import Ledger
from pipelines.parquet import read_files
from pipelines.run_facts import run_named, runs_meant
from pipelines.settings import Settings
from pipelines.storage import Lake
from schemas.registry import table_spec, tables
from schemas.table import TableSpec
from transforms.sql import SqlSession
from transforms.staging.parser import Parsed

RECORDS_AT_MOST = 20
LAYERS = ("marts", "intermediate")
RUNS = "runs"


def followed() -> list[str]:
    """Tables whose rows can be followed to the records that they were made from."""
    folder = files("pipelines").joinpath("evidence_sql")
    return sorted(f.name.removesuffix(".sql") for f in folder.iterdir() if f.name.endswith(".sql"))


@dataclass
class Record:
    """A staged record and where it stands.

    Attributes:
        table: Staging table.
        path: Export file.
        record_id: Its id.
        record_index: Its ordinal.
        event_at: When it happened.
        locator: Line or JSON path; none if the export is gone or changed.
        byte_offset: Offset in the decompressed text, if it has one.
        state: `found`, `gone` or `changed`.
    """

    table: str
    path: str
    record_id: str
    record_index: int
    event_at: dt.datetime | None
    locator: str | None = None
    byte_offset: int | None = None
    state: str = "gone"


@dataclass
class Explanation:
    """What an id names.

    Attributes:
        table: Table of the row.
        row: The row, newest day first if it stands on several.
        records: Staged records that it was made from, at most RECORDS_AT_MOST.
        record_count: How many there are.
    """

    table: str
    row: dict[str, Any]
    records: list[Record] = field(default_factory=list)
    record_count: int = 0


def explain(settings: Settings, lake: Lake, wanted: str) -> Explanation | None:
    """Find the row of an id and the records behind it; none if nothing has that id.

    A run's uuid or name leads to the newest row of its last attempt in `runs`.

    Raises:
        PodledgerError: Several runs have that name.
    """
    ledger = Ledger.read(lake)
    with SqlSession(threads=settings.workers) as session:
        connection = session.connection
        for spec in tables().values():
            if spec.layer in LAYERS:
                row = _row(connection, lake, spec, wanted)
                if row is not None:
                    found = Explanation(spec.name, row)
                    _follow(session, settings, ledger, found)
                    return found
        for spec in tables().values():
            if spec.layer == "staging":
                row = _staged_row(connection, ledger, spec, wanted)
                if row is not None:
                    found = Explanation(spec.name, row)
                    records = [_record(spec.name, row)]
                    _locate(settings, ledger, records)
                    found.records, found.record_count = records, 1
                    return found
        row = _row_of_run(connection, lake, wanted)
        if row is not None:
            found = Explanation(RUNS, row)
            _follow(session, settings, ledger, found)
            return found
    return None


def _row_of_run(
    connection: duckdb.DuckDBPyConnection, lake: Lake, wanted: str
) -> dict[str, Any] | None:
    paths = [p for day in lake.days(RUNS) for p in lake.files(RUNS, day)]
    if not paths:
        return None
    read_files(connection, paths, dated=True).create_view(RUNS)
    if not runs_meant(connection, wanted):
        return None
    relation = connection.sql(
        'SELECT * FROM runs WHERE run_uuid = $run ORDER BY "date" DESC, attempt DESC LIMIT 1',
        params={"run": run_named(connection, wanted)},
    )
    return dict(zip(relation.columns, relation.fetchall()[0], strict=True))


def _row(
    connection: duckdb.DuckDBPyConnection, lake: Lake, spec: TableSpec, wanted: str
) -> dict[str, Any] | None:
    name = spec.columns[0].name
    paths = [p for day in lake.days(spec.name) for p in lake.files(spec.name, day)]
    if not paths or not name.endswith("_id"):
        return None
    read_files(connection, paths, dated=True).create_view("derived_rows")
    relation = connection.sql(
        f'SELECT * FROM derived_rows WHERE "{name}" = $wanted '  # noqa: S608  names of our schema
        'ORDER BY "date" DESC LIMIT 1',
        params={"wanted": wanted},
    )
    rows = relation.fetchall()
    return dict(zip(relation.columns, rows[0], strict=True)) if rows else None


def _staged_row(
    connection: duckdb.DuckDBPyConnection, ledger: Ledger, spec: TableSpec, wanted: str
) -> dict[str, Any] | None:
    paths = [p.path for p in ledger.parts(spec.name, None, None, None)]
    if not paths:
        return None
    read_files(connection, paths).create_view("staged_rows")
    relation = connection.sql(
        "SELECT * FROM staged_rows WHERE record_id = $wanted "
        "ORDER BY export_file_id, record_index, row_index LIMIT 1",
        params={"wanted": wanted},
    )
    rows = relation.fetchall()
    return dict(zip(relation.columns, rows[0], strict=True)) if rows else None


def _follow(session: SqlSession, settings: Settings, ledger: Ledger, found: Explanation) -> None:
    """Find the staged records of a derived row by the statement `evidence/<table>.sql`."""
    statement = files("pipelines").joinpath("evidence_sql", f"{found.table}.sql")
    if not statement.is_file():
        return
    text = statement.read_text(encoding="utf-8")
    source = text.split("-- Reads: ", 1)[1].split(".", 1)[0]
    parts = ledger.parts(source, None, None, None)
    if not parts:
        return
    show_parts(session, table_spec(source), parts)
    values = {k: v for k, v in found.row.items() if f"${k}" in text}
    relation = session.connection.sql(text, params=values)
    ((found.record_count,),) = relation.count("*").fetchall()
    for row in relation.limit(RECORDS_AT_MOST).fetchall():
        found.records.append(_record(source, dict(zip(relation.columns, row, strict=True))))
    _locate(settings, ledger, found.records)


def _record(table: str, row: dict[str, Any]) -> Record:
    when = row.get("event_at") or row.get("start_at") or row.get("observed_at")
    return Record(table, row["export_file_id"], row["record_id"], row["record_index"], when)


def _locate(settings: Settings, ledger: Ledger, records: list[Record]) -> None:
    """Open the exports again and find each record in its file."""
    by_file: dict[str, list[Record]] = {}
    for record in records:
        by_file.setdefault(record.path, []).append(record)
    for file_id, wanted in by_file.items():
        rows = ledger.files.filter(pl.col("export_file_id") == file_id).to_dicts()
        if not rows:
            continue
        file = rows[0]
        for record in wanted:
            record.path = file["path"]
        indexes = {r.record_index: r for r in wanted}
        try:
            with local_copy(file["path"], file["size_bytes"], settings.temp_path) as path:
                for index, parsed in _records(settings, file, path):
                    if index in indexes:
                        _settle(indexes.pop(index), parsed)
                    if not indexes:
                        break
        except (InputError, OSError):
            # The export is gone; the row stays true.
            continue
        for record in indexes.values():
            record.state = "changed"


def _settle(record: Record, parsed: Parsed) -> None:
    ids = {values["record_id"] for _, values in parsed.rows}
    record.state = "found" if record.record_id in ids else "changed"
    if record.state == "found":
        record.locator, record.byte_offset = parsed.locator, parsed.offset


def _records(settings: Settings, file: dict[str, Any], path: Path) -> Iterator[tuple[int, Parsed]]:
    export = next((e for e in settings.exports if e.name == file["export"]), None)
    if export is None:
        message = f"{file['path']}: its export {file['export']!r} left the settings"
        raise InputError(message)
    facts = settings.pattern_of(export).facts(file["path"])
    context = context_of_row(settings, export, file, facts.hour_at if facts else None)
    yield from enumerate(parse_records(path, parsers()[file["format"]], context))
