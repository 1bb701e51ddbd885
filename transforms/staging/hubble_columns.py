"""Big Hubble exports, column by column: the same rows as the line reader gives, faster.

How landing uses it: for a large file of `format: hubble`, cut its text into blocks of whole lines
and write the tables of each batch as they come, in order.

    for batch in parse_columns(TextFile(path, "gzip"), blocks, context, session, …):
        for table, rows in batch.tables.items():
            part.write(table, rows)

The result equals that of `hubble.PARSER`, record for record and row for row, in the same order;
provenance columns are filled. Nothing raises but a broken block source, and no record is lost:
`record_count = accepted + rejected + ignored` holds for every batch.

How it works. DuckDB turns the lines into columns of raw values (`hubble_columns.sql`), refusing
what is no JSON. The rules of the line reader are applied to each distinct value. Whatever is not
plainly right is read again from its line by the line reader itself: lines of other events, values
that look odd, and lines that DuckDB would take although they are no JSON (it allows a comma behind
the last element, and NaN), which a second, independent scan of the text finds. Both must agree on
which line is which record, or the line reader does the rest of the file.

DuckDB stops at the first line that is damaged. From there on the lines that the scan doubts are
kept from it, and the text is given to it in pieces; what it refuses even then (a key that stands
twice, an object where a list should be) is left to the line reader, up to the end of the piece.

A line that holds several records (torn and glued ones) moves the indexes of all behind it. Where
an object or a list goes on in the next lines, the line reader does the rest of the file.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate, groupby, islice
from typing import Any, Literal, NamedTuple

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from schemas.registry import table_spec
from transforms.sql import SqlSession, statement
from transforms.staging.column_batch import UNFIT, ColumnBatch, Judge
from transforms.staging.column_rules import TEXT, Columns, Doubts
from transforms.staging.engine_text import Scratch
from transforms.staging.hubble_flow_columns import flow_columns
from transforms.staging.hubble_lines import Envelope, Flow, Ip, Layer7, Ports, other_names
from transforms.staging.hubble_lookup_columns import lookup_columns
from transforms.staging.hubble_reader import EventReader
from transforms.staging.hubble_rows import SHOWN_KEYS, hash_of_line, parse_line
from transforms.staging.line_blocks import LineBlocks, TextBlock
from transforms.staging.line_lineage import LineLineage
from transforms.staging.parser import FileContext, Parsed, RawRecord

FORMAT = "hubble"
_PACKAGE = "transforms.staging"
BATCH_ROWS = 20_480
"""Rows that the engine gives at a time; bounds memory, and fits the processor's cache."""
GAP_RECORDS = 2 * BATCH_ROWS
"""Records at most in one batch that holds many other events."""
MOST_RECORDS = 1_000
"""Records of one line that are held; a line of more is left to the line reader."""
PIECE_BYTES = 32 << 20
"""Text that is given to the engine at a time behind the first damaged line."""
MOST_RUNS = 100
"""Places at most at which rows are put between those of columns without copying these."""
_ORDER = ("record_index", "row_index")
"""Source order of rows."""


class TextFile(NamedTuple):
    """The file as the engine opens it.

    Attributes:
        path: Path of a local file; its text is what the blocks hold.
        compression: How it is compressed.
    """

    path: str
    compression: Literal["none", "gzip", "zstd"]


def parse_columns(
    file: TextFile,
    blocks: Iterable[TextBlock | Parsed],
    context: FileContext,
    session: SqlSession,
    *,
    export_file_id: str,
    scratch: Scratch | None = None,
    judge: Judge | None = None,
) -> Iterator[ColumnBatch]:
    """Parse a file of Hubble lines in batches of bounded size.

    Args:
        file: The file, for the engine.
        blocks: The file's text in order, in blocks of 100 KiB or so. A `Parsed` between two blocks
            is a record that the reader itself refused (a line that is too long, the break of a
            damaged stream); it is counted and passed on in its place.
        context: What is known of the file.
        session: A database to work in, of one thread where several files are read side by side.
            It is used alone while the iterator runs and holds nothing afterwards.
        export_file_id: Id of the file, for the rows.
        scratch: Memory for the text behind a damaged line; without it the line reader does that.
        judge: Says what tables can hold; what its columns cannot hold is read by the line reader,
            and records that no table can hold are refused. None where nothing is asked.

    Yields:
        Batches in source order; together they hold every record once.

    Raises:
        Exception: What the block source raises, after the batches before it.
    """
    lines = LineBlocks(blocks, _trusted)
    reader = _Reader(context, session, export_file_id, lines, judge)
    try:
        yield from reader.whole_file(file)
        if reader.is_refused and scratch is not None:
            yield from reader.pieces(scratch)
    except _OpenError:
        pass
    yield from reader.rest()


def _plain(
    message: type[msgspec.Struct], parts: dict[str, type[msgspec.Struct]]
) -> type[msgspec.Struct]:
    """A message of which the decoder checks all, and keeps nothing.

    Fields under names that are not the proto's are refused where the engine would pass over them;
    of objects that the engine gives as JSON, the rules refuse them.
    """
    fields = [(name, part | None, None) for name, part in parts.items()]
    return msgspec.defstruct("Plain", [*fields, *other_names(message)], gc=False)


_PORTS = _plain(Ports, {})
_PLAIN_FLOW = _plain(
    Flow,
    {
        "IP": _plain(Ip, {}),
        "l4": msgspec.defstruct(
            "Plain", [(name, _PORTS | None, None) for name in ("TCP", "UDP", "SCTP")], gc=False
        ),
        "l7": _plain(Layer7, {}),
    },
)
_ANY: "msgspec.json.Decoder[msgspec.Struct]" = msgspec.json.Decoder(
    _plain(Envelope, {"flow": _PLAIN_FLOW})
)


def _trusted(text: bytes) -> int | None:
    """How many JSON objects a text holds, if it is nothing else."""
    try:
        if not text.isascii():
            text.decode()
        return len(_ANY.decode_lines(text))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _StoppedError(Exception):
    """The engine does not read on, or disagrees with the scan on which line is which record."""


class _OpenError(Exception):
    """A line begins what the lines behind it go on with."""


class _Reader:
    """Reads one file; what is done is never done again.

    Attributes:
        done: Lines that are in batches already.
        is_refused: Whether the engine stopped before the end.
    """

    def __init__(
        self,
        context: FileContext,
        session: SqlSession,
        export_file_id: str,
        lines: LineBlocks,
        judge: Judge | None,
    ) -> None:
        self._judge = judge
        self.done = 0
        self.is_refused = False
        self._context = context
        self._connection = session.connection
        self._export_file_id = export_file_id
        self._lines = lines
        self._lineage = LineLineage()
        self._events = self._new_events()
        self._records = 0
        self._connection.execute("SET arrow_large_buffer_size = true")

    def whole_file(self, file: TextFile) -> Iterator[ColumnBatch]:
        """Read until the engine stops, which is at the end or at a damaged line."""
        yield from self._until_refused(self._engine(file.path, file.compression, 0))

    def pieces(self, scratch: Scratch) -> Iterator[ColumnBatch]:
        """Read the rest in pieces of text, from which doubtful lines are taken out."""
        lines = self._lines
        while self.done < (end := lines.read_bytes(self.done, PIECE_BYTES)):
            start = self.done
            scratch.fill(lines.engine_text(start, end))
            yield from self._until_refused(self._engine(scratch.path, "none", start))
            yield from self._by_line_to(lines.count)

    def rest(self) -> Iterator[ColumnBatch]:
        """Read what is left by the line reader."""
        self._lines.examine_closely(for_good=True)
        self._events = self._new_events()
        self._events.may_begin_list = self._records == 0
        records = self._rest_of_records()
        while found := list(islice(records, BATCH_ROWS)):
            yield self._filled(
                ColumnBatch(record_count=len(found)), {}, enumerate(found, self._records)
            )

    def _rest_of_records(self) -> Iterator[Parsed]:
        lines = self._lines
        while True:
            lines.read_to(self.done + 1)
            if self.done == lines.count:
                break
            record = lines.record(self.done)
            self.done += 1
            if isinstance(record, Parsed):
                yield record
            else:
                yield from self._events.read(record)
            lines.let_go(self.done)
        yield from self._events.end()

    def _until_refused(self, parts: Iterator[pa.RecordBatch]) -> Iterator[ColumnBatch]:
        """Batches of the engine's rows, as long as it takes the lines and they are what they seem.

        A batch is whole or is not there: what is not done when this ends is still to be read.
        """
        batches = (batch for part in parts for batch in self._up_to(part))
        while True:
            try:
                batch = next(batches, None)
            except (*UNFIT, _StoppedError):
                self.is_refused = True
                break
            if batch is None:
                break
            yield batch
        # What is left was not read by the engine, so that the text has to tell all of it.
        self._lines.examine_closely()

    def _engine(self, path: str, compression: str, first: int) -> Iterator[pa.RecordBatch]:
        """Raw flows with their index in the file; `first` is the index of the first line.

        Raises:
            _StoppedError: The engine refuses a line, or cannot read the file.
        """
        values = {"path": path, "compression": compression}
        try:
            relation = self._connection.sql(statement(_PACKAGE, "hubble_columns"), params=values)
            reader = relation.to_arrow_reader(BATCH_ROWS)
            while (batch := next(reader, None)) is not None:
                if batch.num_rows:
                    index = pc.add(batch.column("ordinal"), first)
                    yield batch.set_column(0, "ordinal", index)
        except (duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError) as error:
            # A stream of Arrow gives the engine's errors as OSError, and a message that the engine
            # cuts inside a character cannot be read at all.
            raise _StoppedError from error

    def _up_to(self, part: pa.RecordBatch) -> Iterator[ColumnBatch]:
        """Batches of all records up to the last of the part's rows."""
        last = part.column("ordinal")[-1].as_py()
        if last + 1 - self.done <= GAP_RECORDS:
            yield self._batch(part, last + 1)
        elif part.num_rows > 1:
            half = part.num_rows // 2
            yield from self._up_to(part.slice(0, half))
            yield from self._up_to(part.slice(half))
        else:
            yield from self._by_line_to(last)
            yield self._batch(part, last + 1)

    def _by_line_to(self, end: int) -> Iterator[ColumnBatch]:
        while self.done < end:
            upper = min(end, self.done + BATCH_ROWS)
            self._lines.read_to(upper)
            if self._lines.count < upper:
                raise _StoppedError
            parsed = {i: self._line(i) for i in range(self.done, upper)}
            yield self._finish(upper, {}, parsed)

    def _batch(self, part: pa.RecordBatch, end: int) -> ColumnBatch:
        """The records from where reading stands to `end`."""
        self._lines.read_to(end)
        self._check(part)
        doubts = Doubts()
        columns = flow_columns(part, doubts)
        columns["record_index"] = part.column("ordinal")
        self._note_doubtful_lines(columns, doubts, end)
        self._add_hashes(columns, doubts)
        columns["node"] = self._with_node_of_path(columns["node"])
        lookups = lookup_columns(columns, doubts)
        kept = columns["record_index"]
        if doubts.mask is not None:
            sure = pc.invert(doubts.mask)
            columns = {name: column.filter(sure) for name, column in columns.items()}
            kept = columns["record_index"]
        missing = _missing(kept, self.done, end)
        others = {index: self._line(index) for index in missing}
        tables = {"flows": self._rows("flows", columns)}
        if lookups is not None:
            tables["dns_lookups"] = self._rows("dns_lookups", lookups)
        if not self._holds(tables):
            raise _StoppedError
        return self._finish(end, tables, others)

    def _check(self, part: pa.RecordBatch) -> None:
        """See that the first and last rows stand in the lines that the scan takes for them."""
        for place in (0, part.num_rows - 1):
            index = part.column("ordinal")[place].as_py()
            if index >= self._lines.count:
                raise _StoppedError
            record = self._lines.record(index)
            text = part.column("flow")[place].as_py()["uuid"] or ""
            if not isinstance(record, RawRecord) or text.encode() not in record.data:
                raise _StoppedError

    def _note_doubtful_lines(self, columns: Columns, doubts: Doubts, end: int) -> None:
        doubtful = [i for i in self._lines.doubtful if self.done <= i < end]
        if doubtful:
            index = columns["record_index"]
            doubts.note(pc.is_in(index, pa.array(doubtful, index.type)))

    def _add_hashes(self, columns: Columns, doubts: Doubts) -> None:
        """Give rows without a uuid the hash of their line."""
        ids = columns["record_id"]
        if not ids.null_count:
            return
        doubts.note(pc.and_(ids.is_null(), columns["node"].is_null()))
        found = ids.to_pylist()
        unsure = doubts.mask.to_pylist() if doubts.mask is not None else None
        for place, index in enumerate(columns["record_index"].to_pylist()):
            if found[place] is None and not (unsure and unsure[place]):
                record = self._lines.record(index)
                if not isinstance(record, RawRecord):
                    raise _StoppedError
                found[place] = hash_of_line(record, self._context, None)
        columns["record_id"] = pa.array(found, TEXT)

    def _with_node_of_path(self, nodes: pa.Array) -> pa.Array:
        if not nodes.null_count or self._context.node is None:
            return nodes
        return pc.fill_null(nodes, self._context.node)

    def _rows(self, name: str, columns: Columns) -> pa.Table:
        """Columns as a table, with the provenance that is the same for all rows."""
        schema = _schema(name)
        count = len(columns["record_index"])
        fixed = {**self._provenance(), "row_index": 0}
        arrays = [
            pa.repeat(pa.scalar(fixed[f.name], f.type), count)
            if f.name in fixed
            else columns[f.name]
            for f in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _provenance(self) -> dict[str, Any]:
        return {
            "export_file_id": self._export_file_id,
            "source_format": FORMAT,
            "cluster": self._context.cluster,
        }

    def _new_events(self) -> EventReader:
        return EventReader(lambda raw: parse_line(raw, self._context, self._lineage), SHOWN_KEYS)

    def _line(self, index: int) -> list[Parsed]:
        """Records of one line.

        Raises:
            _OpenError: What they are depends on the lines behind it, or they are very many.
        """
        record = self._lines.record(index)
        if isinstance(record, Parsed):
            return [record]
        self._events.may_begin_list = index == 0
        found = list(islice(self._events.read(record), MOST_RECORDS + 1))
        if self._events.is_open:
            self._lines.read_to(index + 2)
            following = self._lines.record(index + 1) if self._lines.count > index + 1 else None
            settled = None if isinstance(following, Parsed) else self._events.settled(following)
            if settled is None:
                self._events = self._new_events()
                raise _OpenError
            found += settled
        if len(found) > MOST_RECORDS:
            self._events = self._new_events()
            raise _OpenError
        return found

    def _finish(
        self, end: int, tables: dict[str, pa.Table], others: dict[int, list[Parsed]]
    ) -> ColumnBatch:
        """Put rows of columns and of lines together, in order, and count."""
        more = {line: len(found) - 1 for line, found in others.items() if len(found) != 1}
        batch = ColumnBatch(record_count=end - self.done + sum(more.values()))
        batch.accepted_count = end - self.done - len(others)
        place = _Places(self.done, self._records, more)
        if place.is_moved:
            tables = {name: place.moved(table) for name, table in tables.items()}
        numbered = [
            (place.of(line) + i, parsed)
            for line, found in others.items()
            for i, parsed in enumerate(found)
        ]
        self.done = end
        self._lines.let_go(end)
        return self._filled(batch, tables, numbered)

    def _filled(
        self,
        batch: ColumnBatch,
        tables: dict[str, pa.Table],
        others: Iterable[tuple[int, Parsed]],
    ) -> ColumnBatch:
        """Add the rows of numbered records to those of columns."""
        numbered = list(others)
        try:
            found = self._tables(numbered)
            is_fit = self._holds(found)
        except UNFIT as error:
            if self._judge is None:
                # What is done is not read again, so that this is no reason to go on by lines.
                message = "rows that no table can hold"
                raise AssertionError(message) from error
            is_fit = False
        if self._judge is not None and not is_fit:
            numbered = self._judge.judged(numbered)
            found = self._tables(numbered)
        for index, parsed in numbered:
            _note(batch, index, parsed)
        for name, more in found.items():
            tables[name] = _merged(tables[name], more) if name in tables else more
        batch.tables = {name: table for name, table in tables.items() if table.num_rows}
        self._records += batch.record_count
        return batch

    def _holds(self, tables: Mapping[str, pa.Table]) -> bool:
        judge = self._judge
        return judge is None or all(judge.holds(*each) for each in tables.items())

    def _tables(self, records: Iterable[tuple[int, Parsed]]) -> dict[str, pa.Table]:
        """The rows of records by table."""
        rows: dict[str, list[dict[str, Any]]] = {}
        for index, parsed in records:
            ordinals: Counter[str] = Counter()
            for table, values in parsed.rows:
                row = {"record_index": index, "row_index": ordinals[table], **values}
                rows.setdefault(table, []).append(row)
                ordinals[table] += 1
        return {name: self._table(name, found) for name, found in rows.items()}

    def _table(self, name: str, rows: list[dict[str, Any]]) -> pa.Table:
        schema = _schema(name)
        fixed = self._provenance()
        columns = [
            pa.array([fixed.get(f.name, row.get(f.name)) for row in rows], f.type) for f in schema
        ]
        return pa.Table.from_arrays(columns, schema=schema)


class _Places:
    """Which record the first one of a line is, in a stretch of lines.

    Attributes:
        is_moved: Whether lines and records are numbered differently.
    """

    def __init__(self, line: int, record: int, more: dict[int, int]) -> None:
        """Start a stretch.

        Args:
            line: Its first line.
            record: The first record of that line.
            more: Records besides the first one, by line, where a line has not one record.
        """
        self._shift = record - line
        self._lines = sorted(more)
        self._sums = [0, *accumulate(more[line] for line in self._lines)]
        self.is_moved = bool(self._shift or more)

    def of(self, line: int) -> int:
        """The first record of a line."""
        return line + self._shift + self._sums[bisect_left(self._lines, line)]

    def moved(self, table: pa.Table) -> pa.Table:
        """Rows of which `record_index` holds the line, with the record in its place."""
        lines = table.column("record_index")
        if self._lines:
            records = pa.array(map(self.of, lines.to_pylist()), lines.type)
        else:
            records = pc.add(lines, self._shift)
        place = table.schema.get_field_index("record_index")
        return table.set_column(place, table.schema.field(place), records)


@cache
def _schema(table: str) -> pa.Schema:
    return table_spec(table).arrow_schema


def _missing(index: pa.Int64Array, start: int, end: int) -> list[int]:
    """Numbers of a range that a rising column lacks."""
    if len(index) == end - start:
        return []
    if not len(index):
        return list(range(start, end))
    bounds = pa.concat_arrays(
        [pa.array([start - 1], index.type), index, pa.array([end], index.type)]
    )
    steps = pc.pairwise_diff(bounds)
    found: list[int] = []
    for place in pc.indices_nonzero(pc.fill_null(pc.greater(steps, 1), False)).to_pylist():
        found.extend(range(bounds[place - 1].as_py() + 1, bounds[place].as_py()))
    return found


def _note(batch: ColumnBatch, index: int, parsed: Parsed) -> None:
    if parsed.reject is not None:
        batch.rejects.append((index, parsed))
    elif parsed.ignore is not None:
        batch.ignored[parsed.ignore] += 1
    else:
        batch.accepted_count += 1


def _merged(table: pa.Table, more: pa.Table) -> pa.Table:
    """Rows of both in source order; each is in source order."""
    behind = _behind(table, more)
    runs = [(place, len(list(same))) for place, same in groupby(behind)]
    if len(runs) > MOST_RUNS:
        whole = pa.concat_tables([table, more]).combine_chunks()
        keys = [(name, "ascending") for name in _ORDER]
        return whole.take(pc.sort_indices(whole.select(_ORDER), sort_keys=keys))
    # Few rows go between slices, so that lists of labels are not copied.
    parts, start, first = [], 0, 0
    for place, count in runs:
        parts += [table.slice(start, place - start), more.slice(first, count)]
        start, first = place, first + count
    return pa.concat_tables([*parts, table.slice(start)])


def _behind(table: pa.Table, more: pa.Table) -> list[int]:
    """For each row of `more`, how many rows of the table stand before it."""
    there, new = (
        list(zip(*(rows.column(name).to_pylist() for name in _ORDER), strict=True))
        for rows in (table, more)
    )
    return [bisect_left(there, key) for key in new]
