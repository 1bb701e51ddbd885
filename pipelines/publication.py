"""Write a table's rows to one Parquet file: cast, order, check, then replace in one step.

Rows are checked batch by batch against the pandera model while they are written; the key is
checked on the finished file. Equal rows give equal bytes: row groups have a fixed size and nothing
in the file depends on time, machine, number of threads, or on which files brought the rows.

What a file was made from stands beside it, in a note of its own that is written behind it. The
note names the content that it belongs to, so that a build which dies between the two makes the
file again. Who reads a file goes by its content alone: one that is made again and comes out the
same stays, and makes nothing stale that was made from it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pandera.errors
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.errors import DataCheckError
from pipelines.mirror import present
from pipelines.storage import Lake, naming
from schemas.table import TableSpec
from transforms.sql import SqlSession

ROW_GROUP = 122_880
"""Rows per row group; below 100 k rows writing costs a quarter more."""
BATCH_ROWS = 16_384
"""Rows that are checked at a time: of a batch there are several copies, of a row group two."""

_NO_MEMORY = "Out of Memory Error"
"""How the engine's error begins where memory does not suffice."""
CONTENT = b"podledger.content"
"""Key of the footer: SHA-256 of all bytes in front of it, and, behind `-`, of columns and types."""


@dataclass(frozen=True)
class Published:
    """What was written.

    Attributes:
        path: The file.
        rows: Number of rows.
        bytes: Size of the file.
    """

    path: Path
    rows: int
    bytes: int


@dataclass(frozen=True)
class Made:
    """What a file was made from.

    Attributes:
        inputs: Digest of what was read, of the settings and of the day; it decides.
        version: Version of the logic.
        kinds: Digests of the single kinds of things among them, by name: they tell why two differ.
        parts: Digests of the parts of the rows that others read alone, by name.
    """

    inputs: str
    version: int
    kinds: Mapping[str, str] = field(default_factory=dict, compare=False)
    parts: Mapping[str, str] = field(default_factory=dict, compare=False)


class _Hashed:
    """A file to write that digests what is written, and is named in the errors of writing it."""

    closed = False
    mode = "wb"

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._path = path
        self._file = path.open("wb", buffering=1 << 20)
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: bytes) -> int:
        """Write the data."""
        self.sha256.update(data)
        with naming(self._path):
            return self._file.write(data)

    def tell(self) -> int:
        """Bytes written."""
        return self._file.tell()

    def flush(self) -> None:
        """Hand on what is held back."""
        with naming(self._path):
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with naming(self._path):
            self._file.close()


class TableWriter:
    """Writes checked batches of one table to one Parquet file.

    Use it in a `with` block: one that ends well finishes the file.
    """

    def __init__(self, spec: TableSpec, path: Path, *, is_part: bool = False) -> None:
        """Open the file.

        Args:
            spec: The table.
            path: The file.
            is_part: A part of staging, which is read few times: it is compressed less, and small
                dictionaries take less time. The rows of a row group are not copied together, which
                takes half the memory, so that equal rows give equal bytes only if they arrive
                alike.
        """
        self._spec = spec
        self._combine = not is_part
        self._schema = spec.arrow_schema
        self._pending: list[pa.Table] = []
        self._pending_rows = 0
        self.rows = 0
        self.content = ""
        self._file = _Hashed(path)
        try:
            self._writer = pq.ParquetWriter(
                self._file,
                self._schema,
                compression="zstd",
                compression_level=1 if is_part else 3,
                use_dictionary=True,
                dictionary_pagesize_limit=(128 << 10) if is_part else (1 << 20),
                # Without those of texts the engine plans some joins so that they hold all rows.
                write_statistics=True,
                write_page_index=False,
                store_schema=True,
            )
        except OSError:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        """Give the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the file, or leave it as it is after an error."""
        try:
            if kind is None:
                self._finish()
        finally:
            # After an error the rest may fail too, and says nothing new. A writer that is dropped
            # while it counts as open would try once more.
            with suppress(OSError, pa.ArrowException):
                self._writer.close()
            self._writer.is_open = False
            with suppress(OSError):
                self._file.close()

    @property
    def written(self) -> int:
        """Rows appended so far."""
        return self.rows + self._pending_rows

    def write(self, frame: pl.DataFrame) -> None:
        """Check one batch and append it.

        Raises:
            DataCheckError: Rows break the model; names table, column, check and sample values.
        """
        check(self._spec, frame)
        self.append(frame)

    def append(self, frame: pl.DataFrame) -> None:
        """Append a batch that was checked."""
        self.append_table(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))

    def write_table(self, table: pa.Table) -> None:
        """Check one batch of Arrow, of the table's columns and types, and append it.

        Raises:
            DataCheckError: Rows break the model; names table, column, check and sample values.
        """
        if _broken(self._spec, table):
            check(self._spec, _frame_of(self._spec, table))
        self.append_table(table)

    def append_table(self, table: pa.Table) -> None:
        """Append a batch that was checked, given as Arrow."""
        table = table.cast(self._schema)
        self._pending.append(table)
        self._pending_rows += table.num_rows
        while self._pending_rows >= ROW_GROUP:
            self._put(ROW_GROUP)

    def _finish(self) -> None:
        """Write what is left and the footer."""
        if self._pending_rows:
            self._put(self._pending_rows)
        types = hashlib.sha256(str(self._schema).encode()).hexdigest()
        self.content = f"{self._file.sha256.hexdigest()}-{types}"
        self._writer.add_key_value_metadata({CONTENT: self.content.encode()})
        self._writer.close()
        self._file.flush()

    def _put(self, count: int) -> None:
        """Write the first rows of those that wait."""
        whole = pa.concat_tables(self._pending)
        rest = whole.slice(count)
        self._pending, self._pending_rows = [rest], rest.num_rows
        columns = whole.slice(0, count).columns
        del whole, rest
        if self._combine:
            # So that the pages do not depend on how batches arrived. One by one, so that only one
            # column is there twice.
            for place, column in enumerate(columns):
                columns[place] = None
                columns[place] = pa.chunked_array([_combined(column)], column.type)
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._writer.write_table(table, row_group_size=ROW_GROUP)
        self.rows += count


def _combined(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def check(spec: TableSpec, frame: pl.DataFrame) -> None:
    """Check a batch against its model.

    Raises:
        DataCheckError: Names table, column, check and up to three values.
    """
    if _passes(spec, frame):
        return
    try:
        spec.model.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as errors:
        cases = errors.failure_cases
        lines = []
        if isinstance(cases, pl.DataFrame):
            for (column, rule), group in cases.group_by("column", "check", maintain_order=True):
                values = group["failure_case"].head(3).to_list()
                lines.append(f"{column}: {rule}: {group.height} time(s), such as {values}")
        message = f"{spec.name}: rows break the model: " + "; ".join(lines[:5] or [str(errors)])
        raise DataCheckError(message) from None


def _passes(spec: TableSpec, frame: pl.DataFrame) -> bool:
    """Whether a batch keeps its model, asked in one pass.

    The model itself takes a twentieth of a second for a batch of any size, and names what is wrong.
    """
    if list(frame.schema.items()) != list(spec.polars_schema.items()):
        return False
    broken = []
    for column in spec.columns:
        values = pl.col(column.name)
        if not column.nullable:
            broken.append(values.is_null())
        if column.minimum is not None:
            broken.append(values < column.minimum)
        if column.allowed:
            broken.append(~values.is_in(column.allowed))
    found = frame.select(pl.any_horizontal(b.any() for b in broken)) if broken else None
    return found is None or not found.item()


def check_table(spec: TableSpec, table: pa.Table) -> None:
    """Check a batch of Arrow against its model: types, nulls, least and allowed values.

    Raises:
        DataCheckError: Names table, column and check.
    """
    broken = _broken(spec, table)
    if broken:
        message = f"{spec.name}: rows break the model: " + "; ".join(broken[:5])
        raise DataCheckError(message)


def _broken(spec: TableSpec, table: pa.Table) -> list[str]:
    """What of its model a batch of Arrow breaks, in words; nothing if it keeps it."""
    broken = []
    if not table.schema.equals(spec.arrow_schema):
        broken.append("columns or types differ")
    for column in spec.columns if not broken else ():
        values = table.column(column.name)
        if not column.nullable and values.null_count:
            broken.append(f"{column.name}: not_nullable: {values.null_count} time(s)")
        if column.minimum is not None and values.null_count < len(values):
            least = pc.min(values).as_py()
            if least < column.minimum:
                broken.append(f"{column.name}: at least {column.minimum}: such as {least}")
        if column.allowed:
            others = pc.unique(values).drop_null().to_pylist()
            others = [value for value in others if value not in column.allowed]
            if others:
                broken.append(f"{column.name}: isin: such as {others[:3]}")
    return broken


def publish(
    lake: Lake,
    session: SqlSession,
    spec: TableSpec,
    source: str,
    day: date,
    name: str,
    made: Made,
    before_replacing: Callable[[Path, str], object] | None = None,
) -> Published | None:
    """Publish one table of a session as one file of the lake.

    Args:
        lake: The lake.
        session: Session that holds the table.
        spec: Table to publish.
        source: Name of the session's table or view with the rows.
        day: Day in the path.
        name: Cluster or `fleet`.
        made: What the rows were made from; with equal inputs they need not be made again.
        before_replacing: Called with the finished new file, while the old one still stands, and
            the digest of its content.

    Returns:
        What was written; none if the published file holds the same.

    Raises:
        DataCheckError: The rows break the model or repeat a key; nothing is replaced.
    """
    path = lake.path(spec.name, day, name)
    published = None
    with lake.replacing(path) as temporary:
        with TableWriter(spec, temporary) as writer:
            for batch in ordered_batches(session, spec, source):
                writer.write_table(batch)
        if content_of(path) == writer.content:
            temporary.unlink()
        else:
            check_key(session, spec, temporary)
            if before_replacing is not None:
                before_replacing(temporary, writer.content)
            published = Published(path, writer.rows, temporary.stat().st_size)
    note = {"content": writer.content, **asdict(made)}
    with lake.replacing(note_of(path)) as temporary:
        temporary.write_text(json.dumps(note), encoding="utf-8")
    return published


def ordered_batches(session: SqlSession, spec: TableSpec, source: str) -> Iterator[pa.Table]:
    """The rows in the table's total order and types, in batches that are still to be checked."""
    relation = session.connection.table(source)
    missing = [c.name for c in spec.columns if c.name not in relation.columns]
    if missing:
        message = f"{spec.name}: the transform made no column(s) {', '.join(missing)}"
        raise DataCheckError(message)
    columns = ", ".join(f'"{c.name}"' for c in spec.columns)
    order = ", ".join(f'"{name}" NULLS LAST' for name in total_order(spec))
    # As the schema has texts and lists, so that nothing needs to be copied.
    session.connection.execute("SET arrow_large_buffer_size = true")
    reader = relation.project(columns).order(order).to_arrow_reader(BATCH_ROWS)
    while (batch := _next_batch(reader)) is not None:
        yield _typed(spec, batch)


def _typed(spec: TableSpec, batch: pa.RecordBatch) -> pa.Table:
    """A batch with the types of its table; nulls are still to be checked."""
    if batch.schema.types == spec.arrow_schema.types:
        return pa.Table.from_arrays(batch.columns, schema=spec.arrow_schema)
    table = _frame_of(spec, batch).to_arrow(compat_level=pl.CompatLevel.oldest())
    return pa.Table.from_arrays(table.columns, schema=spec.arrow_schema)


def _frame_of(spec: TableSpec, rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    """Rows of Arrow as a frame with the types of their table."""
    return pl.DataFrame(pl.from_arrow(rows)).cast(spec.polars_schema, strict=True)


def _next_batch(reader: pa.RecordBatchReader) -> pa.RecordBatch | None:
    """The next batch of an engine's result; none at the end.

    Raises:
        duckdb.Error: What stopped the engine, which Arrow hands on as an error of reading.
    """
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None
    except OSError as error:
        if error.errno is not None:
            raise
        first = str(error)
        kind = duckdb.OutOfMemoryException if first.startswith(_NO_MEMORY) else duckdb.Error
        raise kind(first) from None


def total_order(spec: TableSpec) -> tuple[str, ...]:
    """Columns that put rows in one order, so that ties cannot depend on threads.

    All columns stand behind the declared order, up to the last one of the key: rows that repeat a
    key are not published.
    """
    rest = (c.name for c in spec.columns if c.name not in spec.order)
    names = (*spec.order, *rest)
    return names[: max(names.index(name) for name in spec.key) + 1] if spec.key else names


def check_key(session: SqlSession, spec: TableSpec, path: Path) -> None:
    """Check that no two rows of a finished file share a key, in the session's bounded memory.

    Raises:
        DataCheckError: Names up to three keys.
    """
    key = ", ".join(f'"{c}"' for c in spec.key)
    twice = session.connection.execute(
        f"SELECT {key}, COUNT(*) "  # noqa: S608  identifiers of our own schema
        "FROM read_parquet($path, hive_partitioning = false) "
        "GROUP BY ALL HAVING COUNT(*) > 1 ORDER BY ALL LIMIT 3",
        {"path": str(path)},
    ).fetchall()
    if twice:
        message = f"{spec.name}: key ({', '.join(spec.key)}) repeats, such as {twice}"
        raise DataCheckError(message)


def content_of(path: Path) -> str | None:
    """Digest of the content in a file's footer; none where the file is absent or foreign."""
    present([path])
    try:
        status = path.stat()
    except OSError:
        return None
    return _content_of(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=100_000)
def _content_of(path: Path, *_written: int) -> str | None:
    """The same of a file as it was written: a day asks for those of all days before it."""
    try:
        metadata = pq.read_metadata(path).metadata or {}
    except (OSError, pa.ArrowException):
        return None
    found: bytes | None = metadata.get(CONTENT)
    return found.decode(errors="replace") if found is not None else None


def made_from(path: Path) -> Made | None:
    """What a published file was made from; none where that is not known of this very content."""
    try:
        note = json.loads(note_of(path).read_bytes())
        if note["content"] == content_of(path):
            # Notes of before the kinds were noted have none.
            kinds, parts = dict(note.get("kinds", {})), dict(note.get("parts", {}))
            return Made(note["inputs"], note["version"], kinds, parts)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def part_of(path: Path, part: str | None) -> str | None:
    """Digest of a part of a published file; of its whole content where that part is not known."""
    made = None if part is None else made_from(path)
    known = None if made is None or part is None else made.parts.get(part)
    return content_of(path) if known is None else f"{part} {known}"


def is_lost(path: Path) -> bool:
    """Whether a file was published and is not there any more."""
    return note_of(path).is_file() and not path.is_file()


def note_of(path: Path) -> Path:
    """The note beside a published file."""
    return path.with_name(f".{path.stem}.made")


def digest(parts: Iterable[str]) -> str:
    """SHA-256 over texts, each with its length, so that no two lists give one digest."""
    result = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        result.update(f"{len(encoded)}:".encode())
        result.update(encoded)
    return result.hexdigest()
