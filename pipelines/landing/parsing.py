"""Parse the files of one batch into one staging part: the work of one worker process.

A part is written file by file, table by table, in source order, in bounded batches. What a file
gave is counted record by record, so that nothing can disappear.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

import polars as pl
import pyarrow as pa

from pipelines.landing.columns import COLUMNS_FROM, column_batches, has_columns
from pipelines.landing.formats import parsers
from pipelines.landing.frames import NOT_REPRESENTABLE, Provenance, checked_frames, representable
from pipelines.landing.inputs import local_copy
from pipelines.landing.parquet_rows import is_parquet
from pipelines.landing.readers import MAX_LINE_BYTES, Break, damage_of, raw_records
from pipelines.landing.wrapped import inner_records, shape_of, wrapping_of
from pipelines.ledger import REJECTED_RECORDS
from pipelines.publication import TableWriter, check
from pipelines.storage import Lake
from schemas.registry import table_spec
from schemas.table import FLEET, TableSpec
from transforms.redaction import excerpt, excerpt_around, redact
from transforms.staging.naming_facts import NAMING_COLUMNS, NamingFacts
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord

BATCH_RECORDS = 20_000
"""Records held before rows are written; bounds the memory of one worker."""
BATCH_BYTES = 32 << 20
"""The same bound for files of few large records."""


@dataclass(frozen=True)
class FileJob:
    """One file to parse.

    Attributes:
        export_file_id: Its id.
        source: Where it is read from; the context holds the path as it may be stored.
        size: Size as stored.
        context: What is known of it.
        format: Parser to use.
        text_bytes: Size after decompression; 0 if not known.
        damage: Where its stream is damaged inside, so that nothing in it can be believed.
    """

    export_file_id: str
    source: str
    size: int
    context: FileContext
    format: str
    text_bytes: int = 0
    damage: Break | None = None


@dataclass(frozen=True)
class Batch:
    """Files that become one part.

    Attributes:
        part: Name of the part.
        cluster: Cluster, none for the fleet.
        files: The files, in order.
    """

    part: str
    cluster: str | None
    files: tuple[FileJob, ...]


@dataclass(frozen=True)
class Reject:
    """One refused record.

    Attributes:
        record_index: Ordinal in its file.
        locator: Where it stands.
        byte_offset: Offset in the decompressed text, if it has one.
        reason: Why, redacted.
        excerpt: What may be shown of it.
        caret: Character of the excerpt at which the record breaks, where that is known and asked.
    """

    record_index: int
    locator: str
    byte_offset: int | None
    reason: str
    excerpt: str
    caret: int | None = None


@dataclass
class FileOutcome:
    """What one file gave.

    Attributes:
        export_file_id: Its id.
        record_count: Records in all.
        accepted_count: Records that gave rows, repeated ones among them.
        rejected_count: Refused records.
        ignored: Ignored records by reason.
        tables: Table → (first row in the part, rows).
        first_event_at: Earliest event.
        last_event_at: Latest event.
        capabilities: `table.column` of optional columns that hold a value.
        naming: What its look-ups are worth for naming connections.
    """

    export_file_id: str
    record_count: int = 0
    accepted_count: int = 0
    rejected_count: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    tables: dict[str, tuple[int, int]] = field(default_factory=dict)
    first_event_at: datetime | None = None
    last_event_at: datetime | None = None
    capabilities: set[str] = field(default_factory=set)
    naming: NamingFacts = field(default_factory=NamingFacts)


@dataclass(frozen=True)
class BatchOutcome:
    """What one batch gave."""

    batch: Batch
    files: tuple[FileOutcome, ...]


def parse_batch(lake: Lake, batch: Batch, temp: Path | None) -> BatchOutcome:
    """Parse a batch and write its part; nothing is visible until a commit lists the part."""
    outcomes = []
    with ExitStack() as stack:
        part = _Part(lake, batch, stack)
        for job in batch.files:
            outcome = FileOutcome(job.export_file_id)
            with local_copy(job.source, job.size, temp) as path:
                is_big = job.text_bytes >= COLUMNS_FROM and job.damage is None
                if is_big and _is_for_columns(path, job.format):
                    _parse_columns(path, job, part, outcome)
                else:
                    _parse_file(path, job, part, outcome)
            outcomes.append(outcome)
    return BatchOutcome(batch, tuple(outcomes))


def parse_records(
    path: Path, parser: Parser, context: FileContext, damage: Break | None = None
) -> Iterator[Parsed]:
    """All records of a file, in order; the break of a truncated stream is the last record.

    Wrappers that stand around the records are taken off before the parser sees them.

    Args:
        path: A local file.
        parser: Its format.
        context: What is known of it.
        damage: Where its stream is damaged inside: then that is its only record.
    """
    if damage is not None:
        yield Parsed(f"byte {damage.offset}", damage.offset, b"", reject=damage.reason)
        return
    broken: list[Break] = []
    between: list[Parsed] = []
    wrapping = wrapping_of(path, parser)
    shape = parser.shape if wrapping is None else shape_of(path)

    def readable(broken: list[Break], between: list[Parsed]) -> Iterator[RawRecord]:
        for item in raw_records(path, shape):
            if isinstance(item, Break):
                broken.append(item)
            elif item.data:
                yield item
            else:
                reason = f"line_too_long: expected at most {MAX_LINE_BYTES} bytes"
                between.append(Parsed(item.locator, item.offset, b"", reject=reason))

    def unwrapped(broken: list[Break], between: list[Parsed]) -> Iterator[RawRecord]:
        records = readable(broken, between)
        return records if wrapping is None else inner_records(records, wrapping, parser, between)

    # What a second reading cannot use, the first one has told.
    context = replace(context, read_again=lambda: unwrapped([], []))
    # A row of a Parquet file stands at no byte of a text.
    is_row = is_parquet(path)
    for parsed in parser.parse(unwrapped(broken, between), context):
        yield from _taken(between)
        yield replace(parsed, offset=None) if is_row else parsed
    yield from _taken(between)
    for stop in broken:
        yield Parsed(f"byte {stop.offset}", stop.offset, b"", reject=stop.reason)


def _taken(results: list[Parsed]) -> tuple[Parsed, ...]:
    """The results, taken out of the list."""
    taken = tuple(results)
    results.clear()
    return taken


def _is_for_columns(path: Path, format_name: str) -> bool:
    parser = parsers()[format_name]
    is_bare = not is_parquet(path) and wrapping_of(path, parser) is None
    return is_bare and has_columns(path, parser)


class _Sink(Protocol):
    """Where rows and refused records go."""

    def rows(self, table: str) -> int: ...

    def write(self, table: str, frame: pl.DataFrame) -> None: ...

    def refuse(self, export_file_id: str, rejects: Sequence[Reject]) -> None: ...


class _Part:
    """The part's files, one per table, opened when a table gets its first row."""

    def __init__(self, lake: Lake, batch: Batch, stack: ExitStack) -> None:
        self._lake = lake
        self._batch = batch
        self._stack = stack
        self._writers: dict[str, TableWriter] = {}

    def rows(self, table: str) -> int:
        """Rows that a table of the part has so far."""
        writer = self._writers.get(table)
        return writer.written if writer else 0

    def write(self, table: str, frame: pl.DataFrame) -> None:
        """Append checked rows."""
        self._writer(table).append(frame)

    def write_table(self, table: str, rows: pa.Table) -> None:
        """Append checked rows of Arrow."""
        self._writer(table).append_table(rows)

    def _writer(self, table: str) -> TableWriter:
        writer = self._writers.get(table)
        if writer is None:
            day = self._batch.files[0].context.landing_date
            path = self._lake.path(table, day, f"{self._batch.cluster or FLEET}-{self._batch.part}")
            temporary = self._stack.enter_context(self._lake.replacing(path))
            writer = self._stack.enter_context(
                TableWriter(table_spec(table), temporary, is_part=True)
            )
            self._writers[table] = writer
        return writer

    def refuse(self, export_file_id: str, rejects: Sequence[Reject]) -> None:
        """Append refused records; like rows, they count once a commit lists the part."""
        spec = table_spec(REJECTED_RECORDS)
        rows = [{"export_file_id": export_file_id, **vars(reject)} for reject in rejects]
        schema = spec.polars_schema
        frame = pl.DataFrame({c: [row[c] for row in rows] for c in schema}, schema=schema)
        check(spec, frame)
        self.write(REJECTED_RECORDS, frame)


_Show = Callable[[Parsed], tuple[str, int | None]]
"""Excerpt of a refused record, and the character of it at which the record breaks."""


def _beginning(parsed: Parsed) -> tuple[str, int | None]:
    return excerpt(parsed.raw), None


def _parse_file(
    path: Path, job: FileJob, part: _Sink, outcome: FileOutcome, show: _Show = _beginning
) -> None:
    """Parse a file in stretches of bounded size; rows and rejects of each go to the part."""
    parser = parsers()[job.format]
    pending: list[tuple[int, Parsed]] = []
    refused: list[Reject] = []
    size = 0

    def flush() -> None:
        unfit = _write_rows(pending, job, part, outcome)
        refused.extend(_reject(*item, show) for item in unfit)
        if refused:
            refused.sort(key=lambda reject: reject.record_index)
            part.refuse(job.export_file_id, refused)
            outcome.rejected_count += len(refused)
        pending.clear()
        refused.clear()

    for index, parsed in enumerate(parse_records(path, parser, job.context, job.damage)):
        outcome.record_count += 1
        if parsed.ignore is not None:
            outcome.ignored[parsed.ignore] += 1
            continue
        if parsed.reject is not None or not parsed.rows:
            # Only what may be shown of it is kept, so that refused records hold little memory.
            refused.append(_reject(index, parsed, parsed.reject or _NO_ROW, show))
        else:
            pending.append((index, parsed))
            size += len(parsed.data)
        if len(pending) + len(refused) >= BATCH_RECORDS or size >= BATCH_BYTES:
            flush()
            size = 0
    flush()


def _parse_columns(path: Path, job: FileJob, part: _Part, outcome: FileOutcome) -> None:
    """Parse a big file by its format's reader of columns, which gives the same rows."""
    for batch in column_batches(path, job.format, job.context, job.export_file_id):
        outcome.record_count += batch.record_count
        outcome.accepted_count += batch.accepted_count
        outcome.rejected_count += len(batch.rejects)
        outcome.ignored.update(batch.ignored)
        for table, rows in batch.tables.items():
            spec = table_spec(table)
            first, count = outcome.tables.get(table, (part.rows(table), 0))
            part.write_table(table, rows)
            outcome.tables[table] = (first, count + rows.num_rows)
            _note_range(spec, pl.DataFrame(rows.select(spec.covers)), outcome)
            if table in NAMING_COLUMNS:
                outcome.naming.add(table, pl.DataFrame(rows.select(NAMING_COLUMNS[table])))
            _note_capabilities(
                spec,
                {name: rows.column(name).null_count < len(rows) for name in rows.schema.names},
                outcome,
            )
        if batch.rejects:
            rejects = [
                _reject(index, parsed, parsed.reject or _NO_ROW, _beginning)
                for index, parsed in batch.rejects
            ]
            part.refuse(job.export_file_id, rejects)


def _write_rows(
    pending: list[tuple[int, Parsed]], job: FileJob, part: _Sink, outcome: FileOutcome
) -> list[tuple[int, Parsed, str]]:
    """Write the rows of records; returns the records that no table can hold, with reasons."""
    refused: list[tuple[int, Parsed, str]] = []
    if not pending:
        return refused
    provenance = Provenance(job.export_file_id, job.format, job.context.cluster)
    try:
        frames = checked_frames(pending, provenance)
    except NOT_REPRESENTABLE:
        pending, refused = representable(pending, provenance)
        frames = checked_frames(pending, provenance)
    outcome.accepted_count += len(pending)
    for table, frame in frames.items():
        first, count = outcome.tables.get(table, (part.rows(table), 0))
        part.write(table, frame)
        outcome.tables[table] = (first, count + frame.height)
        _note_range(table_spec(table), frame, outcome)
        outcome.naming.add(table, frame)
        holds_value = {s.name: s.null_count() < frame.height for s in frame.get_columns()}
        _note_capabilities(table_spec(table), holds_value, outcome)
    return refused


_NO_ROW = "no_row: expected a row, a reason to refuse it or a reason to ignore it"
"""A record of which a parser says nothing must not disappear."""


def _note_range(spec: TableSpec, frame: pl.DataFrame, outcome: FileOutcome) -> None:
    columns = [frame.get_column(name) for name in spec.covers]
    low = min((at for c in columns if isinstance(at := c.min(), datetime)), default=None)
    high = max((at for c in columns if isinstance(at := c.max(), datetime)), default=None)
    if low is not None:
        known = outcome.first_event_at
        outcome.first_event_at = low if known is None else min(known, low)
    if high is not None:
        known = outcome.last_event_at
        outcome.last_event_at = high if known is None else max(known, high)


def _note_capabilities(
    spec: TableSpec, holds_value: Mapping[str, bool], outcome: FileOutcome
) -> None:
    outcome.capabilities.update(
        f"{spec.name}.{c.name}"
        for c in spec.columns
        if c.nullable and c.name != "cluster" and holds_value[c.name]
    )


def _reject(index: int, parsed: Parsed, reason: str, show: _Show) -> Reject:
    shown, caret = show(parsed)
    return Reject(index, parsed.locator, parsed.offset, redact(reason), shown, caret)


@dataclass
class Findings:
    """What a file would give.

    Attributes:
        outcome: What landing it would count.
        rejects: The first refused records, with the place where each breaks.
        reasons: Refused records by the first word of their reason.
    """

    outcome: FileOutcome
    rejects: list[Reject] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)


class _Nowhere:
    """A part that keeps no rows: for checking a file."""

    def __init__(self, findings: Findings, kept: int) -> None:
        self._rows: Counter[str] = Counter()
        self._findings = findings
        self._kept = kept

    def rows(self, table: str) -> int:
        """Rows that a table would have so far."""
        return self._rows[table]

    def write(self, table: str, frame: pl.DataFrame) -> None:
        """Count the rows."""
        self._rows[table] += frame.height

    def refuse(self, export_file_id: str, rejects: Sequence[Reject]) -> None:  # noqa: ARG002
        """Count the refused records and keep the first."""
        kept = self._findings.rejects
        kept.extend(rejects[: self._kept - len(kept)])
        self._findings.reasons.update(reject.reason.partition(":")[0] for reject in rejects)

    def show(self, parsed: Parsed) -> tuple[str, int | None]:
        """Excerpt around the place where a record breaks, of the records that are kept."""
        if len(self._findings.rejects) >= self._kept:
            return "", None
        place = parsed.place
        return (excerpt(parsed.raw), None) if place is None else excerpt_around(*place)


def check_file(path: Path, format_name: str, context: FileContext, kept: int) -> Findings:
    """Parse a file and say what it would give, without writing anything.

    Args:
        path: The file.
        format_name: Its format.
        context: What is known of it.
        kept: Refused records to keep at most.
    """
    job = FileJob(
        "check", str(path), path.stat().st_size, context, format_name, damage=damage_of(path)
    )
    findings = Findings(FileOutcome(job.export_file_id))
    nowhere = _Nowhere(findings, kept)
    _parse_file(path, job, nowhere, findings.outcome, nowhere.show)
    return findings
