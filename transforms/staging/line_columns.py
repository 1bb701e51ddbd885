"""Logs of lines, column by column: what is the same for every format that is read so.

A format turns the lines that are plainly right into columns, many at a time. All other lines go to
its row parser, one by one, so that the result equals the row parser's, record for record and row
for row, in the same order; provenance columns are filled.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.registry import table_spec
from transforms.staging.column_batch import UNFIT, ColumnBatch, Judge
from transforms.staging.column_rules import INTEGER
from transforms.staging.line_blocks import TextBlock
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord

_BOM = b"\xef\xbb\xbf"
_NEWLINE = 10

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """Rows of one table, of lines of one form.

    Attributes:
        table: The table.
        numbers: Lines, ascending, that gave the rows, one each.
        columns: Columns of these rows by name, `record_id` among them; a value that is no array is
            that of every row, and a column that is left out is null.
    """

    table: str
    numbers: Places
    columns: dict[str, Any]


@dataclass
class Stretch:
    """What the columns of a format say of the lines of a text.

    Attributes:
        data: The text.
        starts: First byte of each line.
        ends: Byte behind its last, without the line end.
        parts: Rows of the lines that were read; a line has one of each table at most.
        ignored: Lines that are left out by rule, by reason.
    """

    data: bytes
    starts: Places
    ends: Places
    parts: list[Part] = field(default_factory=list)
    ignored: dict[str, Places] = field(default_factory=dict)

    def line(self, number: int) -> bytes:
        """The bytes of a line."""
        return self.data[self.starts[number] : self.ends[number]]


class LineColumns(Protocol):
    """Reads the lines of one file by columns.

    Attributes:
        parser: The row parser, which reads what is not plainly right. It gives the records of a
            line before it asks for the next one.
        batch_bytes: Text that it is given at once, about.
    """

    parser: Parser
    batch_bytes: int

    def read(self, data: bytes) -> Stretch:
        """Read a text of whole lines; lines that it does not name are read by the row parser."""


def line_places(data: bytes) -> tuple[Places, Places]:
    """First byte of each line, and the byte behind its last; only the last may have no end."""
    size = len(data)
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
    if size and data[-1] != _NEWLINE:
        ends = np.append(ends, size)
    return np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))[: len(ends)], ends


def parse_lines(
    blocks: Iterable[TextBlock | Parsed],
    context: FileContext,
    columns: LineColumns,
    *,
    export_file_id: str,
    judge: Judge | None = None,
) -> Iterator[ColumnBatch]:
    """Parse a file of lines in batches of bounded size.

    Where columns cannot hold what a batch states, its lines are read by the row parser, and the
    records among them that no table can hold are refused.

    Args:
        blocks: The file's text in order, in blocks of whole lines; a `Parsed` between two blocks is
            a record that the reader itself refused.
        context: What is known of the file.
        columns: Reads the lines.
        export_file_id: Id of the file, for the rows.
        judge: Says what tables can hold; none where nothing is asked of them but their types.

    Yields:
        Batches in source order; together they hold every record once.
    """
    reader = _Reader(context, columns, export_file_id, judge)
    pending: list[TextBlock] = []
    size = 0
    for block in blocks:
        if isinstance(block, Parsed):
            yield from reader.batches(pending)
            yield reader.refused(block)
            pending, size = [], 0
            continue
        is_next = not pending or (
            pending[-1].first_line + pending[-1].lines == block.first_line
            and pending[-1].offset + len(pending[-1].data) == block.offset
        )
        if not is_next or size + len(block.data) > columns.batch_bytes:
            yield from reader.batches(pending)
            pending, size = [], 0
        pending.append(block)
        size += len(block.data)
    yield from reader.batches(pending)


class _Reader:
    """Reads one file."""

    def __init__(
        self,
        context: FileContext,
        columns: LineColumns,
        export_file_id: str,
        judge: Judge | None,
    ) -> None:
        self._context = context
        self._judge = judge
        self._columns = columns
        self._done = 0
        self._provenance = {
            "export_file_id": export_file_id,
            "source_format": columns.parser.name,
            "cluster": context.cluster,
        }

    def refused(self, parsed: Parsed) -> ColumnBatch:
        """A record that the reader of the file refused."""
        self._done += 1
        return ColumnBatch(record_count=1, rejects=[(self._done - 1, parsed)])

    def batches(self, blocks: list[TextBlock]) -> Iterator[ColumnBatch]:
        """The batch of some blocks that stand behind each other."""
        if not blocks:
            return
        first = blocks[0]
        data = first.data if len(blocks) == 1 else b"".join(block.data for block in blocks)
        try:
            batch = self._batch(self._columns.read(data), first)
        except UNFIT:
            # Which of the records it is, the row parser's rows tell.
            batch = self._batch(Stretch(data, *line_places(data)), first)
        self._done += batch.record_count
        yield batch

    def _batch(self, stretch: Stretch, first: TextBlock) -> ColumnBatch:
        """The batch of a text of which some lines were read by columns.

        Raises:
            UNFIT: Its columns cannot hold what they should.
        """
        counts = np.zeros(len(stretch.starts), np.int64)
        for part in stretch.parts:
            counts[part.numbers] = 1
        batch = ColumnBatch(accepted_count=int(counts.sum()))
        for reason, numbers in stretch.ignored.items():
            counts[numbers] = 1
            batch.ignored[reason] += len(numbers)
        others = self._by_line(stretch, np.flatnonzero(counts == 0).tolist(), first)
        for number, found in others.items():
            counts[number] = len(found)
        indexes = np.cumsum(counts) - counts + self._done
        batch.record_count = int(counts.sum())
        self._finish(batch, stretch, indexes, others)
        return batch

    def _by_line(
        self, stretch: Stretch, numbers: Iterable[int], first: TextBlock
    ) -> dict[int, list[Parsed]]:
        """What lines give by the row parser, by number; blank ones give nothing."""
        current = 0

        def records() -> Iterator[RawRecord]:
            nonlocal current
            for number in numbers:
                raw = self._raw(stretch, number, first)
                if raw is not None:
                    current = number
                    yield raw

        found: dict[int, list[Parsed]] = {}
        for parsed in self._columns.parser.parse(records(), self._context):
            found.setdefault(current, []).append(parsed)
        return found

    def _raw(self, stretch: Stretch, number: int, first: TextBlock) -> RawRecord | None:
        """A line as the line reader gives it; none where it is blank."""
        data = stretch.line(number)
        offset = first.offset + int(stretch.starts[number])
        if offset == 0 and data.startswith(_BOM):
            data, offset = data.removeprefix(_BOM), len(_BOM)
        if not data.strip():
            return None
        return RawRecord(f"line {first.first_line + number}", offset, data.rstrip(b"\r"))

    def _finish(
        self,
        batch: ColumnBatch,
        stretch: Stretch,
        indexes: Places,
        others: dict[int, list[Parsed]],
    ) -> None:
        """Put rows of columns and of lines together, in order, and count."""
        tables: dict[str, list[pa.Table]] = {}
        for part in stretch.parts:
            if not len(part.numbers):
                continue
            columns = {"row_index": 0, **part.columns, **self._provenance}
            columns["record_index"] = pa.array(indexes[part.numbers], INTEGER)
            found = _table(part.table, columns, len(part.numbers))
            tables.setdefault(part.table, []).append(found)
            if self._judge is not None and not self._judge.holds(part.table, found):
                raise ValueError(part.table)
        numbered = [
            (index, parsed)
            for number, results in others.items()
            for index, parsed in enumerate(results, int(indexes[number]))
        ]
        for name, more in self._tables(batch, numbered):
            tables.setdefault(name, []).append(more)
        keys = [("record_index", "ascending"), ("row_index", "ascending")]
        for name, pieces in tables.items():
            table = pa.concat_tables(pieces)
            if len(pieces) > 1:
                table = table.take(pc.sort_indices(table, keys))
            batch.tables[name] = table

    def _tables(
        self, batch: ColumnBatch, records: list[tuple[int, Parsed]]
    ) -> list[tuple[str, pa.Table]]:
        """The rows of records, each with its table, after counting the records."""
        judge = self._judge
        try:
            tables = self._rows(records)
            is_fit = judge is None or all(judge.holds(*each) for each in tables)
        except UNFIT:
            if judge is None:
                raise
            is_fit = False
        if judge is not None and not is_fit:
            records = judge.judged(records)
            tables = self._rows(records)
        for index, parsed in records:
            _note(batch, index, parsed)
        return tables

    def _rows(self, records: list[tuple[int, Parsed]]) -> list[tuple[str, pa.Table]]:
        # Parsers give few sets of columns, so that rows of one are turned into columns at once.
        groups: dict[tuple[str, tuple[str, ...]], _Rows] = {}
        for index, parsed in records:
            ordinals: dict[str, int] = {}
            for table, values in parsed.rows:
                key = (table, tuple(values))
                rows = groups.get(key)
                if rows is None:
                    rows = groups[key] = _Rows([], [], [])
                ordinal = ordinals.get(table, 0)
                ordinals[table] = ordinal + 1
                rows.record_indexes.append(index)
                rows.row_indexes.append(ordinal)
                rows.values.append(values.values())
        tables = []
        for (name, keys), rows in groups.items():
            schema = _schema(name)
            columns: dict[str, Sequence[Any]]
            columns = dict(zip(keys, zip(*rows.values, strict=True), strict=True))
            columns |= {"record_index": rows.record_indexes, "row_index": rows.row_indexes}
            given = {
                key: pa.array(columns[key], schema.field(key).type)
                for key in schema.names
                if key in columns and key not in self._provenance
            }
            tables.append((name, _table(name, given | self._provenance, len(rows.values))))
        return tables


class _Rows(NamedTuple):
    """Rows that have values for the same columns."""

    record_indexes: list[int]
    row_indexes: list[int]
    values: list[Collection[Any]]


def _note(batch: ColumnBatch, index: int, parsed: Parsed) -> None:
    if parsed.ignore is not None:
        batch.ignored[parsed.ignore] += 1
    elif parsed.reject is not None or not parsed.rows:
        batch.rejects.append((index, parsed))
    else:
        batch.accepted_count += 1


@cache
def _schema(table: str) -> pa.Schema:
    return table_spec(table).arrow_schema


def _table(name: str, columns: dict[str, Any], count: int) -> pa.Table:
    """The columns as a table, with nulls in those that are not there."""
    arrays = []
    for part in _schema(name):
        values = columns.get(part.name)
        if isinstance(values, pa.Array):
            arrays.append(values)
        elif values is None:
            arrays.append(pa.nulls(count, part.type))
        else:
            arrays.append(pa.repeat(pa.scalar(values, part.type), count))
    return pa.Table.from_arrays(arrays, schema=_schema(name))
