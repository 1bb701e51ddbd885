"""Big logs of JSON lines, column by column: the same rows as the row parser gives, faster.

DuckDB turns lines into columns of the parts that the row parser decodes, each as its JSON; the
parser's own functions then read each distinct value, or group of values, once; names, addresses,
times and numbers that differ from record to record are read all at once where they are plain.
Every line of which this leaves a doubt goes to the row parser: what is no object or is damaged
(msgspec looks at every line, since DuckDB takes a comma behind the last element, and NaN), has a
key twice (DuckDB refuses it), holds a list of records or other bytes than UTF-8, or a value that
the rules refuse.

How a format is added. Write `<format>_columns.py` with

* a `Shape` of the message that the row parser decodes; `whole` names objects that one rule reads;
* a function that gives the table's columns of `Records`. It says for each column which parts it
  depends on, and how they are read. For what repeats: `rows`, which has the row parser itself read
  a least record (`base`) with each distinct group of parts in it, or `each`, which calls one of its
  functions, where there are many distinct ones. For what differs from record to record: `names`,
  `addresses`, `instants` and `integers`. A function that gives a text leaves the record out for
  that reason; one that refuses leaves it to the row parser, as does `doubt`. What the row parser
  refuses or leaves out must be noted by one of them; a part that is asked for by none is only
  checked to be of its type. A column that is the same in every row is given as its value, and one
  that is null in every row is left out. Where the row parser takes a key in several spellings, the
  shape's `judge` says of the keys of a record whether the shape has them all;
* `COLUMNS = JsonColumns(parser, table, shape, function, base)`, and the format's name in
  `JSON_FORMATS` of `pipelines/landing/columns.py`.

Where lines have several forms, each further one is a `JsonColumns` of its own among `others`. Rows
of a second table are given by `add_rows`.

`record_id` is the hash of the whole record where the function gives none. The tests of
`test_json_columns.py` then compare both readings on the format's seeds and on changed lines.
"""

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

import duckdb
import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from schemas.registry import table_spec
from transforms.redaction import remember_plain_names
from transforms.sql import SqlSession, statement
from transforms.staging.column_batch import UNFIT
from transforms.staging.column_rules import INSTANT, INTEGER, TEXT, Columns, Doubts, Rule, instants
from transforms.staging.engine_text import Scratch
from transforms.staging.json_ids import md5, whole_ids
from transforms.staging.json_object_lines import NEWLINE, ObjectLines
from transforms.staging.json_records import RecordError
from transforms.staging.json_shapes import LISTED, Leaf, Shape
from transforms.staging.json_texts import elements, unquoted
from transforms.staging.line_columns import Part, Places, Stretch, line_places
from transforms.staging.parser import FileContext, Parser, RawRecord
from transforms.staging.plain_names import are_canonical_ipv4, are_plain
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.stored_text import NAME_LIMIT, name_text

_PACKAGE = "transforms.staging"
_MOST_QUERIES = 40
"""Times that a batch is halved in search of lines that the engine refuses."""
_REMEMBERED = 16 << 20
"""Characters of values that a function remembers."""
_MANY = 50
"""New values from which it pays to look at all of them at once."""
_NAME_BYTES = 256
_UNREADABLE = (RefusedError, RecordError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_DOUBTFUL: Any = object()
_KEYS: "msgspec.json.Decoder[dict[str, msgspec.Raw]]" = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ANYTHING: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_SEPARATOR, _NOTHING = chr(31), chr(30)
"""What stands between the parts of an identity, and in the place of a null."""
_LINES_AT_ONCE = 500
"""Lines of which the keys are held at once."""
_MOST_KEYS = 1_000
"""Sets of keys that are remembered."""
_FEW_DIGITS = 10
"""Digits of a number that is written as text."""
_MOST_DIGITS = 18
"""Digits of a whole number that no decoder takes for another."""

Codes = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class JsonColumns:
    """A format that is read by columns.

    Attributes:
        parser: Its row parser.
        table: Table of the columns; empty where they only tell which records are left out.
        shape: What is read of a record.
        columns: Gives the columns of records.
        base: The least record that the row parser accepts: JSON by path.
        alone: Where other lines may change how later ones are read, so that every line of a file
            must begin as an object: keys of which none may stand in it. None if each line stands
            alone.
        others: Further forms that lines may have, each with a table, a shape, columns and a base;
            a line is read by the first one whose shape it is for.
    """

    parser: Parser
    table: str
    shape: Shape
    columns: "Callable[[Records], dict[str, Any]]"
    base: Mapping[str, str] = field(default_factory=dict)
    alone: tuple[str, ...] | None = None
    others: "tuple[JsonColumns, ...]" = ()

    def reader(
        self, context: FileContext, session: SqlSession, scratch: Scratch | None
    ) -> "JsonLines":
        """A reader of one file.

        Args:
            context: What is known of the file.
            session: A database of one thread, which the reader uses alone.
            scratch: Memory for the text; without it the row parser reads all.
        """
        return JsonLines(self, context, session, scratch)


class JsonLines:
    """Reads the lines of one file by columns; see `line_columns.LineColumns`."""

    batch_bytes = 6 << 20
    """Some ten thousand lines; below that, starting the engine for each batch counts."""

    def __init__(
        self,
        columns: JsonColumns,
        context: FileContext,
        session: SqlSession,
        scratch: Scratch | None,
    ) -> None:
        """Start a file."""
        self.parser = columns.parser
        self.table = columns.table
        self.context = context
        self.shape = columns.shape
        self.base = columns.base
        self.known: dict[Hashable, Known] = {}
        self.rules: dict[Hashable, Rule] = {}
        self.made: dict[Hashable, Any] = {}
        self._judged: dict[tuple[str, ...], bool] = {}
        self._columns = columns.columns
        self.connection = session.connection
        self.connection.execute("SET arrow_large_buffer_size = true")
        self._scratch = scratch
        others = (other.reader(context, session, scratch) for other in columns.others)
        self._forms = (self, *others)

    def read(self, data: bytes) -> Stretch:
        """Read a text of whole lines; lines that it does not name are read by the row parser."""
        starts, ends = line_places(data)
        stretch = Stretch(data, starts, ends)
        if self._scratch is None:
            return stretch
        lines = ObjectLines(data, starts, ends)
        rest = lines.objects()
        for form in self._forms:
            own = form.of_shape(lines, rest)
            form.add(stretch, lines, own)
            rest = np.setdiff1d(rest, own, assume_unique=True)
            if not len(rest):
                break
        return stretch

    def of_shape(self, lines: ObjectLines, numbers: Places) -> Places:
        """The lines that are for this form's columns."""
        numbers = self._without_foreign(lines, numbers)
        if self.shape.judge is not None:
            numbers = self._of_keys(lines, numbers, self.shape.judge)
        return numbers

    def add(self, stretch: Stretch, lines: ObjectLines, numbers: Places) -> None:
        """Add what the lines of this form give."""
        if self._scratch is None:
            return
        parts, numbers = self._parts(lines, numbers, self._scratch)
        if parts is None:
            return
        found = Records(self, parts, lines, numbers)
        try:
            columns = self._columns(found)
        except UNFIT:
            # What cannot be a column must not be remembered.
            self.known.clear()
            raise
        found.check_rest()
        left, ignored = found.settled()
        for reason, mask in ignored.items():
            before = stretch.ignored.get(reason, numbers[:0])
            stretch.ignored[reason] = np.concatenate((before, numbers[mask]))
        if left is not None:
            numbers = numbers[left]
            is_left = pa.array(left)
            columns = {
                name: values.filter(is_left) if isinstance(values, pa.Array) else values
                for name, values in columns.items()
            }
        if "record_id" not in columns:
            columns["record_id"] = whole_ids(lines.text(numbers), len(numbers), self.connection)
        stretch.parts.append(Part(self.table, numbers, columns))
        for table, mask, more in found.more:
            chosen = mask if left is None else mask & left
            own = pa.array(chosen if left is None else mask[left])
            is_chosen = pa.array(chosen)
            rows = {
                name: values.filter(is_chosen) if isinstance(values, pa.Array) else values
                for name, values in more.items()
            }
            rows["record_id"] = columns["record_id"].filter(own)
            stretch.parts.append(Part(table, numbers[own.to_numpy(zero_copy_only=False)], rows))

    def _without_foreign(self, lines: ObjectLines, numbers: Places) -> Places:
        """The lines without those that are of another form by what stands in them."""
        if self.shape.decodes_all:
            numbers = lines.without_places(lines.huge, numbers)
        for word in self.shape.foreign:
            numbers = lines.without(re.escape(word), word, numbers)
        key = self.shape.list_key
        # Null in the place of a list is an error.
        words = () if key is None else (f'"{key}"'.encode(),)
        for word in (*words, *(end + b'"' for end in self.shape.never_null)):
            numbers = lines.without(re.escape(word) + rb"\s*:\s*null", word, numbers)
        return numbers

    def _of_keys(
        self, lines: ObjectLines, numbers: Places, judge: Callable[[tuple[str, ...]], bool]
    ) -> Places:
        """The lines whose keys at the top are for columns."""
        judged = self._judged
        if len(judged) > _MOST_KEYS:
            judged.clear()
        fit: list[Places] = []
        for cut in range(0, len(numbers), _LINES_AT_ONCE):
            some = numbers[cut : cut + _LINES_AT_ONCE]
            # Exporters write few sets of keys, each in one order.
            keys = list(map(tuple, _KEYS.decode_lines(lines.text(some))))
            distinct = set(keys)
            for each in distinct - judged.keys():
                judged[each] = judge(each)
            others = {each for each in distinct if not judged[each]}
            if others:
                some = some[np.array([each not in others for each in keys], np.bool_)]
            fit.append(some)
        return np.concatenate(fit) if fit else numbers

    def _parts(
        self, lines: ObjectLines, numbers: Places, scratch: Scratch
    ) -> tuple[pa.Table | None, Places]:
        """The parts of lines; lines that the engine refuses are left out."""
        waiting, found, kept, queries = [numbers], [], [], 0
        while waiting and queries < _MOST_QUERIES:
            chosen = waiting.pop()
            if not len(chosen):
                continue
            table = self._query(lines, chosen, scratch)
            queries += 1
            if table is not None:
                found.append(table)
                kept.append(chosen)
            elif len(chosen) > 1:
                middle = len(chosen) // 2
                waiting += [chosen[middle:], chosen[:middle]]
        if not found:
            return None, numbers[:0]
        return pa.concat_tables(found).combine_chunks(), np.concatenate(kept)

    def _query(self, lines: ObjectLines, numbers: Places, scratch: Scratch) -> pa.Table | None:
        scratch.fill([lines.text(numbers)])
        values = {"path": scratch.path, "columns": self.shape.columns}
        try:
            query = self.connection.sql(statement(_PACKAGE, "json_columns"), params=values)
            table = query.to_arrow_table()
        except (duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError):
            return None
        return table if table.num_rows == len(numbers) else None


class Known:
    """What a function gave for groups of parts, in the order in which it was asked.

    Attributes:
        places: Place of a group among the results.
        results: Values by column, the word for which records are left out, or a sign of doubt.
        size: About how many characters the groups have.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self.places: dict[tuple[Any, ...], int] = {}
        self.results: list[Any] = []
        self.size = 0
        self._odd: dict[Any, list[int]] = {}
        self._columns: dict[str, pa.Array] = {}

    def add(self, group: tuple[Any, ...], result: Any) -> None:  # noqa: ANN401  see `results`
        """Note the result of a group."""
        if type(result) is not dict:
            self._odd.setdefault(result, []).append(len(self.results))
        self.places[group] = len(self.results)
        self.results.append(result)
        self.size += sum([len(x) for x in group if x is not None]) + 100

    @property
    def odd(self) -> Mapping[Any, list[int]]:
        """Places of results that are no values, by the result."""
        return self._odd

    def column(self, name: str, kind: pa.DataType) -> pa.Array:
        """A column of all results; null where a result is odd."""
        known = self._columns.get(name)
        start = 0 if known is None else len(known)
        if start < len(self.results):
            values = [x.get(name) if type(x) is dict else None for x in self.results[start:]]
            more = pa.array(values, kind)
            known = more if known is None else pa.concat_arrays([known, more])
            self._columns[name] = known
        return known


class Encoded(NamedTuple):
    """A part by its distinct values.

    Attributes:
        codes: Place of each record's value among them; one behind the last where it is null.
        texts: The distinct values, as JSON, or as whatever a format has worked out.
        decoder: Decodes them; none if they are taken as they are.
    """

    codes: Codes
    texts: list[Any]
    decoder: "msgspec.json.Decoder[Any] | None"


class Elements(NamedTuple):
    """The elements of a column of lists.

    Attributes:
        column: The column.
        texts: The distinct elements as JSON.
        values: What they are in the column; null where that is in doubt.
        codes: Which of them each element of all lists is.
        offsets: The first element of each list, and the end.
    """

    column: pa.LargeListArray
    texts: list[str]
    values: list[Any]
    codes: Codes
    offsets: Codes


class Records:
    """Records of a batch, part by part.

    Attributes:
        context: What is known of the file.
        doubts: Which records are left to the row parser.
        more: Rows of further tables: the table, the records that have one, and columns.
    """

    def __init__(
        self, reader: JsonLines, parts: pa.Table, lines: ObjectLines, numbers: Places
    ) -> None:
        """Take what the engine found in some lines."""
        self.context = reader.context
        self._lines = lines
        self._numbers = numbers
        self._reader = reader
        self._count: int = parts.num_rows
        self._schema = table_spec(reader.table).arrow_schema if reader.table else pa.schema([])
        self._tops = {name: parts.column(name).chunk(0) for name in parts.column_names}
        self._found: dict[tuple[str, ...], pa.Array] = {}
        self._encoded: dict[str, Encoded] = {}
        self._lists: dict[str, tuple[pa.LargeListArray, msgspec.json.Decoder[Any] | None]] = {}
        self._asked: set[str] = set()
        self.doubts = Doubts()
        self.more: list[tuple[str, npt.NDArray[np.bool_], dict[str, Any]]] = []
        self._ignored: dict[str, npt.NDArray[np.bool_]] = {}
        if LISTED in reader.shape.leaves:
            self.doubt(self.json(LISTED).is_valid())

    def __len__(self) -> int:
        """How many records there are."""
        return self._count

    def once(self, make: Callable[[FileContext], T]) -> T:
        """What a function makes, once for every file."""
        if make not in self._reader.made:
            self._reader.made[make] = make(self.context)
        found: T = self._reader.made[make]
        return found

    def doubt(self, mask: pa.BooleanArray) -> None:
        """Leave the records of the mask to the row parser."""
        self.doubts.note(mask)

    def need(self, path: str) -> None:
        """Leave records to the row parser in which a part is absent or null."""
        self.doubt(self.json(path).is_null())

    def add_rows(self, table: str, mask: pa.BooleanArray, columns: dict[str, Any]) -> None:
        """Add rows of another table, which some of the records have beside their row.

        Args:
            table: The table.
            mask: Which records have one; none where it is null.
            columns: Its columns for all records; ids of records are those of the first table.
        """
        self.more.append((table, np.array(pc.fill_null(mask, False), np.bool_), columns))

    def add_part(self, name: str, codes: Codes, values: list[Any]) -> None:
        """Add what is worked out of parts, to be read like one.

        Args:
            name: Its name, which is no path.
            codes: Place of each record's value among the values; one behind the last for none.
            values: Distinct values.
        """
        self._encoded[name] = Encoded(codes, values, None)

    def add_sign(self, name: str, path: str, text: str) -> None:
        """Add whether a text stands in a part, `yes` or null, to be read like a part."""
        found = pc.fill_null(pc.match_substring(self.json(path), text), False)
        self.add_part(name, np.where(found.to_numpy(zero_copy_only=False), 0, 1), ["yes"])

    def add_texts(self, name: str, column: pa.Array) -> None:
        """Add texts that are worked out of parts, to be read like a part."""
        self._encoded[name] = _encoded(column, None)

    def add_lists(self, name: str, column: pa.LargeListArray, *, of_json: bool = True) -> None:
        """Add lists that are worked out of parts, for `lists`.

        Args:
            name: Its name, which is no path.
            column: Lists of texts.
            of_json: Whether the texts are JSON; if not, they are read as they are.
        """
        self._lists[name] = (column, _ANYTHING if of_json else None)

    def each(
        self,
        read: Callable[..., dict[str, Any] | str],
        paths: Sequence[str],
        names: Sequence[str],
        *,
        with_context: bool = False,
        **kinds: pa.DataType,
    ) -> Columns:
        """Columns that depend on some parts, read once for every distinct group of them.

        Args:
            read: Gives the values by column, or the word for which such records are left out, or
                raises that it cannot. It takes the parts as the row parser's message has them; null
                where one is absent or null.
            paths: The parts.
            names: The columns.
            with_context: Whether `read` also takes the file's context, as its last argument.
            kinds: Types of columns that the table has not.
        """
        codes, groups = self._groups(paths)
        more = (self.context,) if with_context else ()
        known, places = self._known(read, paths, groups, more)
        codes = places[codes]
        self._note_odd(known, codes)
        chosen, found = pa.array(codes), {}
        for name in names:
            kind = kinds.get(name)
            kind = self._schema.field(name).type if kind is None else kind
            found[name] = known.column(name, kind).take(chosen)
        return found

    def rows(
        self, paths: Sequence[str], names: Sequence[str], left_out: Collection[str] = ()
    ) -> Columns:
        """Columns that depend on some parts, as the row parser reads them in a least record.

        Args:
            paths: The parts; where one is absent, it is so in the least record, too.
            names: The columns.
            left_out: Words for which records are left out whatever their other parts say; one that
                is left out for another word is the row parser's.
        """
        return self.each(_InBase(tuple(paths), self._reader, frozenset(left_out)), paths, names)

    def one(
        self, read: Callable[..., Any], path: str, kind: pa.DataType, *, with_context: bool = False
    ) -> pa.Array:
        """A column that depends on one part, read once for every distinct value."""
        found = self.each(_Only(read), (path,), ("value",), with_context=with_context, value=kind)
        return found["value"]

    def lists(
        self,
        read: Callable[[Any], Any],
        path: str,
        name: str,
        most: int,
        *,
        or_text: bool = False,
    ) -> Elements:
        """A column of lists, each distinct element of which is read once.

        Args:
            read: Gives the element of the column.
            path: The part, of which the shape reads the elements singly, or which may be anything,
                or what `add_lists` added; where it is absent, the list is null.
            name: The column.
            most: Elements that a list may have.
            or_text: Whether the list may be written as a text, in which an empty one is none.
        """
        if path in self._lists:
            column, decoder = self._lists[path]
        else:
            leaf = self._leaf(path)
            column = self.elements(path, or_text=or_text)
            decoder = leaf.decoder if leaf.is_list else _ANYTHING
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        encoded = _encoded(column.flatten(), decoder)
        self._encoded[f"{path}[]"] = encoded
        texts = [(text,) for text in encoded.texts]
        # An element that is null is the row parser's.
        known, places = self._known(_Only(read), (f"{path}[]",), texts, ())
        values = [*map(known.results.__getitem__, places.tolist()), _DOUBTFUL]
        bad = [place for place, value in enumerate(values) if value is _DOUBTFUL]
        mask = lengths > most
        mask[np.repeat(np.arange(len(self)), lengths)[np.isin(encoded.codes, bad)]] = True
        self.doubt(pa.array(mask))
        elements = [None if value is _DOUBTFUL else value["value"] for value in values]
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        kind = self._schema.field(name).type
        lists = pa.LargeListArray.from_arrays(
            pa.array(offsets),
            pa.array(elements, kind.value_type).take(pa.array(encoded.codes)),
            mask=column.is_null(),
        )
        return Elements(lists, encoded.texts, elements, encoded.codes, offsets)

    def elements(self, path: str, *, or_text: bool = False) -> pa.LargeListArray:
        """The lists of a part, with the JSON of their elements; other values are in doubt.

        Args:
            path: The part.
            or_text: Whether the list may be written as a text, in which an empty one is none.
        """
        self._asked.add(path)
        column = self.json(path)
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            return column
        return elements(column, self.doubts, or_text=or_text)

    def text(self, path: str) -> pa.Array:
        """A part that is a text; records in which it is another value are in doubt."""
        self._asked.add(path)
        column = self.json(path)
        is_text = pc.starts_with(column, '"')
        if not pc.all(is_text).as_py():
            self.doubt(pc.invert(is_text))
        return unquoted(column)

    def checked(self, path: str) -> pa.Array:
        """A part as JSON, of which the caller sees that it is as it should be."""
        self._asked.add(path)
        return self.json(path)

    def words(self, path: str) -> pa.Array:
        """A part that is a text or a whole number from 0, as text; other values are in doubt."""
        self._asked.add(path)
        column = self.json(path)
        is_number = pc.ascii_is_decimal(column)
        is_short = pc.less_equal(pc.binary_length(column), _MOST_DIGITS)
        if pc.all(pc.and_(is_number, is_short)).as_py():
            return column
        is_text = pc.starts_with(column, '"')
        self.doubt(pc.invert(pc.or_(is_text, pc.and_(is_number, is_short))))
        found = unquoted(pc.if_else(is_text, column, pa.scalar(None, TEXT)))
        return pc.if_else(is_number, column, found) if pc.any(is_number).as_py() else found

    def numbers(self, path: str, maximum: int, nothing: str | None = None) -> pa.Array:
        """Whole numbers from 0, as numbers or as texts of few digits; others are in doubt.

        Args:
            path: The part.
            maximum: The greatest that there is.
            nothing: A text that stands in the place of none.
        """
        stated = self.words(path)
        none = pa.scalar(None, TEXT)
        if nothing is not None:
            stated = pc.if_else(pc.equal(stated, nothing), none, stated)
        is_number = pc.and_(
            pc.ascii_is_decimal(stated), pc.less_equal(pc.binary_length(stated), _FEW_DIGITS)
        )
        self.doubt(pc.invert(is_number))
        found = pc.if_else(is_number, stated, none).cast(INTEGER)
        self.doubt(pc.greater(found, maximum))
        return found

    def is_stated(self, path: str) -> bool:
        """Whether any record has a part."""
        column = self.json(path)
        return bool(column.null_count < len(column))

    def ids(self, *parts: pa.Array) -> pa.Array:
        """Ids of `values.identity` over parts: texts, numbers and times, none of them null."""
        texts = [part if part.type == TEXT else part.cast(INTEGER).cast(TEXT) for part in parts]
        joined = pc.binary_join_element_wise(*texts, pa.scalar(_SEPARATOR, TEXT))
        return md5(pa.table({"line": joined}), self._reader.connection)

    def line_ids(self, *before: str | None, longest: int | None = None) -> pa.Array:
        """Ids of `values.identity` over what stands in front, and the lines as they are.

        Args:
            before: What stands in front.
            longest: Bytes of a line; longer ones are in doubt.
        """
        text = np.frombuffer(self._lines.text(self._numbers), np.uint8)
        ends = np.flatnonzero(text == NEWLINE)
        bare = text[text != NEWLINE]
        offsets = np.append(0, ends - np.arange(len(ends)))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(bare)]
        lines = pa.Array.from_buffers(TEXT, len(ends), buffers)
        # Blanks behind a line are no part of it.
        self.doubt(pc.invert(pc.ends_with(lines, "}")))
        if longest is not None:
            self.doubt(pc.greater(pc.binary_length(lines), longest))
        front = "".join(f"{_NOTHING if part is None else part}{_SEPARATOR}" for part in before)
        if front:
            lines = joined(front, lines)
        return md5(pa.table({"line": lines}), self._reader.connection)

    def names(
        self,
        path: str,
        read: Callable[[str], str | None] = name_text,
        plain: pa.Array | None = None,
    ) -> pa.Array:
        """A name that may differ from record to record; those that are not plain are read singly.

        Args:
            path: The part, a text.
            read: Redacts a name, as `name_text` does.
            plain: What `read` gives but for redaction, if that is not the text itself; null where
                it may be something else.
        """
        stated = self.text(path)
        column = stated if plain is None else plain
        length = pc.binary_length(column)
        fits = pc.and_(pc.greater(length, 0), pc.less_equal(length, NAME_LIMIT))
        is_plain = pc.and_(are_plain(pl.Series(column)).to_arrow(), fits)
        return self._odd_ones(column, is_plain, read, stated)

    def addresses(
        self, path: str, read: Callable[[str], str | None], plain: pa.Array | None = None
    ) -> pa.Array:
        """Addresses; those that are not IPv4 addresses as they are stored are read singly.

        Args:
            path: The part, a text.
            read: Reads an address.
            plain: The address in the text, if that is not the text itself; null where it may be
                something else.
        """
        stated = self.text(path)
        column = stated if plain is None else plain
        is_plain = are_canonical_ipv4(pl.Series(column)).to_arrow()
        return self._odd_ones(column, is_plain, read, stated)

    def instants(self, path: str, read: Callable[[str], Any]) -> pa.Array:
        """Times of RFC 3339, one in each record; unusual ones are read singly."""
        self.need(path)
        column, rule = self.text(path), self._rule(read, INSTANT)
        is_usual = pc.fill_null(pc.ends_with(column, "Z"), True)
        if pc.all(is_usual).as_py():
            found = instants(column, rule, self.doubts)
        else:
            none = pa.scalar(None, TEXT)
            usual = instants(pc.if_else(is_usual, column, none), rule, self.doubts)
            others = rule.apply(pc.if_else(is_usual, none, column), self.doubts)
            found = pc.coalesce(usual, others)
        self.doubt(found.is_null())
        return found

    def integers(
        self, path: str, read: Callable[[Any], int | None], *, maximum: int = 2**63 - 1
    ) -> pa.Array:
        """Whole numbers from 0; where there are others, each distinct one is read."""
        column = self.json(path)
        if column.null_count == len(column):
            return pa.nulls(len(column), INTEGER)
        # The leaf's type may be narrower than what the engine takes, but every one takes digits.
        if pc.all(pc.ascii_is_decimal(column)).as_py():
            try:
                found = column.cast(INTEGER)
            except pa.ArrowInvalid:
                return self.one(read, path, INTEGER)
            if pc.max(found).as_py() <= maximum:
                self._asked.add(path)
                return found
        return self.one(read, path, INTEGER)

    def check_rest(self) -> None:
        """See that parts of which no column was asked are of their types."""
        for path, leaf in self._reader.shape.leaves.items():
            if path in self._asked or leaf.decoder is None:
                continue
            if leaf.is_list:
                self.doubt(self.json(path).is_valid())
            elif leaf.is_text:
                self.doubt(pc.invert(pc.starts_with(self.json(path), '"')))
            else:
                self.each(_nothing, (path,), ())

    def settled(self) -> tuple[npt.NDArray[np.bool_] | None, dict[str, npt.NDArray[np.bool_]]]:
        """Which records gave rows (none: all), and which are left out, by reason."""
        doubts = self.doubts.mask
        if doubts is None and not self._ignored:
            return None, {}
        left = np.ones(len(self), np.bool_)
        if doubts is not None:
            left = ~doubts.to_numpy(zero_copy_only=False)
        # Where there are two reasons, the row parser says which of them comes first.
        reasons = np.zeros(len(self), np.int64)
        for mask in self._ignored.values():
            reasons += mask
        ignored = {word: mask & left & (reasons == 1) for word, mask in self._ignored.items()}
        return left & (reasons == 0), {word: mask for word, mask in ignored.items() if mask.any()}

    def _leaf(self, path: str) -> Leaf:
        return self._reader.shape.leaves[path]

    def json(self, path: str) -> pa.Array:
        """A part as the engine gives it; null where what holds it is."""
        keys = self._leaf(path).keys
        found = self._found.get(keys)
        if found is None:
            found = self._tops[keys[0]]
            for depth in range(1, len(keys)):
                known = self._found.get(keys[: depth + 1])
                if known is None:
                    known = pc.struct_field(found, keys[depth])
                    self._found[keys[: depth + 1]] = known
                found = known
        return found

    def _encode(self, path: str) -> Encoded:
        found = self._encoded.get(path)
        if found is None:
            found = _encoded(self.json(path), self._leaf(path).decoder)
            self._encoded[path] = found
            self._asked.add(path)
        return found

    def _groups(self, paths: Sequence[str]) -> tuple[Codes, list[tuple[Any, ...]]]:
        """The distinct groups of parts, and which of them each record has."""
        parts = [self._encode(path) for path in paths]
        choices = [[*part.texts, None] for part in parts]
        if len(parts) == 1:
            has_null = parts[0].codes.max(initial=0) == len(parts[0].texts)
            return parts[0].codes, [(text,) for text in choices[0][: None if has_null else -1]]
        codes, rest = parts[0].codes, [np.arange(len(choices[0]))]
        for part, texts in zip(parts[1:], choices[1:], strict=True):
            size = len(texts)
            combined = pa.array(codes * size + part.codes).dictionary_encode()
            distinct = combined.dictionary.to_numpy()
            codes = combined.indices.to_numpy().astype(np.int64)
            rest = [column[distinct // size] for column in rest] + [distinct % size]
        columns = [
            map(texts.__getitem__, places.tolist())
            for texts, places in zip(choices, rest, strict=True)
        ]
        return codes, list(zip(*columns, strict=True))

    def _known(
        self,
        read: Callable[..., Any],
        paths: Sequence[str],
        groups: list[tuple[Any, ...]],
        more: tuple[Any, ...],
    ) -> tuple[Known, Codes]:
        """What a function gives for groups of parts, and the place of each group in that."""
        decoders: list[msgspec.json.Decoder[Any] | None] = [None] * len(paths)
        if not isinstance(read, _InBase):
            decoders = [self._encoded[path].decoder for path in paths]
        key: Hashable = (read, *paths)
        known = self._reader.known.get(key)
        if known is None or known.size > _REMEMBERED:
            known = self._reader.known[key] = Known()
        places = np.array(list(map(known.places.get, groups, repeat(-1))), np.int64)
        unknown = np.flatnonzero(places < 0).tolist()
        self._remember_names([groups[place] for place in unknown], decoders)
        for place in unknown:
            group = groups[place]
            try:
                result = read(*map(_decoded, decoders, group), *more)
            except _UNREADABLE:
                result = _DOUBTFUL
            places[place] = len(known.results)
            known.add(group, result)
        return known, places

    @staticmethod
    def _remember_names(
        groups: list[tuple[Any, ...]], decoders: "list[msgspec.json.Decoder[Any] | None]"
    ) -> None:
        """Tell of new texts at once which of them redaction leaves alone, as most are names."""
        if len(groups) < _MANY:
            return
        for place, decoder in enumerate(decoders):
            if decoder is None:
                continue
            texts = {group[place] for group in groups}
            # A name of DNS is redacted without its last dot.
            names = pl.Series(
                [text[1:-1].rstrip(".") for text in texts if text and text[0] == '"'],
                dtype=pl.String,
            )
            fits = names.str.len_bytes() <= _NAME_BYTES
            remember_plain_names(names.filter(fits & are_plain(names)))

    def _note_odd(self, known: Known, codes: Codes) -> None:
        """Note which records are in doubt or left out."""
        for word, places in known.odd.items():
            is_odd = np.zeros(len(known.results), np.bool_)
            is_odd[places] = True
            mask = is_odd[codes]
            if word is _DOUBTFUL:
                self.doubt(pa.array(mask))
            elif mask.any():
                before = self._ignored.get(word)
                self._ignored[word] = mask if before is None else before | mask

    def _odd_ones(
        self,
        column: pa.Array,
        is_plain: pa.BooleanArray,
        read: Callable[[str], Any],
        stated: pa.Array,
    ) -> pa.Array:
        """The column, with those read from what is stated that are not plain."""
        odd = pc.and_(pc.invert(pc.fill_null(is_plain, False)), stated.is_valid())
        if not pc.any(odd).as_py():
            return column
        chosen = pc.if_else(odd, stated, pa.scalar(None, TEXT))
        return pc.if_else(odd, self._rule(read, TEXT).apply(chosen, self.doubts), column)

    def _rule(self, read: Callable[[str], Any], kind: pa.DataType) -> Rule:
        return self._reader.rules.setdefault(read, Rule(read, kind, is_text=False))


@dataclass(frozen=True)
class _Only:
    """Gives what a function gives as the one column `value`; equal for equal functions."""

    read: Callable[..., Any]

    def __call__(self, *values: Any) -> dict[str, Any]:  # noqa: ANN401  whatever it reads
        return {"value": self.read(*values)}


def joined(*parts: pa.Array | str) -> pa.Array:
    """Texts behind each other; null where one of them is."""
    columns = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, pa.scalar("", TEXT))


class _InBase:
    """Reads parts in a least record by the row parser; equal for equal parts of one reader."""

    def __init__(self, paths: tuple[str, ...], reader: JsonLines, left_out: frozenset[str]) -> None:
        self._left_out = left_out
        self._paths = paths
        self._parser = reader.parser
        self._context = reader.context
        self._table = reader.table
        leaves = reader.shape.leaves
        self._base = {leaves[p].keys: text for p, text in reader.base.items() if p not in paths}
        self._keys = [leaves[path].keys for path in paths]

    def __eq__(self, other: object) -> bool:
        """Whether it reads the same parts."""
        return isinstance(other, _InBase) and other._paths == self._paths

    def __hash__(self) -> int:
        """That of the parts."""
        return hash(self._paths)

    def __call__(self, *texts: str | None) -> dict[str, Any] | str:
        """The row's values, or the word for which the record is left out."""
        given = {k: text for k, text in zip(self._keys, texts, strict=True) if text is not None}
        raw = RawRecord("line 1", 0, _document(self._base | given).encode())
        (parsed,) = self._parser.parse(iter((raw,)), self._context)
        if parsed.ignore in self._left_out:
            return parsed.ignore
        if len(parsed.rows) != 1 or parsed.rows[0][0] != self._table:
            refuse("row", f"one row of {self._table}")
        return parsed.rows[0][1]


def _document(texts: Mapping[tuple[str, ...], str]) -> str:
    """A JSON object of parts by the keys that lead to them."""
    parts: dict[str, Any] = {}
    for keys, text in texts.items():
        if len(keys) == 1:
            parts[keys[0]] = text
        else:
            parts.setdefault(keys[0], {})[keys[1:]] = text
    members = [
        f"{msgspec.json.encode(key).decode()}:{part if isinstance(part, str) else _document(part)}"
        for key, part in parts.items()
    ]
    return "{" + ",".join(members) + "}"


def _nothing(_value: Any) -> dict[str, Any]:  # noqa: ANN401  whatever it is
    return {}


def _encoded(column: pa.Array, decoder: "msgspec.json.Decoder[Any] | None") -> Encoded:
    found = column.dictionary_encode()
    texts = found.dictionary.to_pylist()
    codes = pc.fill_null(found.indices, len(texts)).to_numpy(zero_copy_only=False)
    return Encoded(codes.astype(np.int64), texts, decoder)


def _decoded(decoder: "msgspec.json.Decoder[Any] | None", text: Any) -> Any:  # noqa: ANN401
    if decoder is None or text is None:
        return text
    return decoder.decode(text)
