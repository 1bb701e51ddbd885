r"""Tables as CSV under a line of column names, or as a JSON object a row, as Parquet gives them.

A quoted value may hold line ends, but a reader cuts a file by lines: lines are put together again
until the quotes are even and the columns are as many as the names. The record is that of its last
line, those before are ignored as `partial`. A quote that does not end costs its own line only:
where that many lines give no record, the first is refused and the others are read anew. Blank lines
inside of a value are not kept.
"""

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.parser import (
    Parsed,
    RawRecord,
    Row,
    accepted,
    ignored,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.values import identity

MAX_LINES = 64
"""Lines of one record."""
MAX_BYTES = 1 << 20
MAX_COLUMNS = 2_000
"""Bills have a column for each tag, some hundreds at most."""
MAX_NAME = 256

_ROW = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
_BOM = "\ufeff"


@dataclass(frozen=True)
class Table:
    """How rows of a table are read.

    Attributes:
        canonical: Name of a column as the rows use it.
        needed: Names without which a line names no columns of this table.
        marks: Texts of which a line of names holds one.
        read: Reads a row of values by canonical name, empty ones among them, and the id of its
            text.
        shown: Keys of a refused JSON row whose text an excerpt may show.
    """

    canonical: Callable[[str], str]
    needed: frozenset[str]
    marks: tuple[bytes, ...]
    read: Callable[[Mapping[str, Any], str], Row]
    shown: frozenset[bytes]


def parse_table(records: Iterable[RawRecord], table: Table) -> Iterator[Parsed]:
    """Parse the lines or rows of a file, in order."""
    columns: tuple[str, ...] = ()
    lines = _Lines(records)
    for raw in lines:
        if raw.data.lstrip()[:1] == b"{":
            yield _json(raw, table)
            continue
        taken, values = lines.record(raw, len(columns))
        for before in taken[:-1]:
            yield ignored(before, "partial")
        last = taken[-1]
        try:
            if values is None:
                refuse("unreadable_line", "one record of CSV of at most a megabyte")
            text = b"\n".join(line.data for line in taken)
            names = _names(values, table) if any(m in text for m in table.marks) else None
            if names is not None:
                columns = names
                yield ignored(last, "header")
                continue
            yield accepted(
                last, table.read(_named(columns, values), identity(text.decode("utf-8", "replace")))
            )
        except RefusedError as error:
            yield refused(last, error)


def _json(raw: RawRecord, table: Table) -> Parsed:
    item = Item(raw.locator, "$", raw.offset, raw.data)
    try:
        values = decode(_ROW, raw.data, "$")
        row = {
            table.canonical(name): value for name, value in values.items() if len(name) <= MAX_NAME
        }
        if not table.needed <= row.keys():
            refuse("no_columns", f"the columns {', '.join(sorted(table.needed))}")
        return item.accepted((table.read(row, whole_record_id(item)),))
    except (RecordError, RefusedError) as error:
        return item.rejected(error, table.shown)


class _Lines:
    """Lines of a file, some of which are looked at before their turn."""

    def __init__(self, records: Iterable[RawRecord]) -> None:
        self._source = iter(records)
        self._ahead: deque[RawRecord] = deque()

    def __iter__(self) -> Iterator[RawRecord]:
        while (raw := self._next()) is not None:
            yield raw

    def _next(self) -> RawRecord | None:
        return self._ahead.popleft() if self._ahead else next(self._source, None)

    def record(self, raw: RawRecord, width: int) -> tuple[list[RawRecord], list[str] | None]:
        """The lines of a record, and its values; none where they are no record.

        Args:
            raw: Its first line.
            width: Columns that it must have where it is of several lines.
        """
        taken, size = [raw], len(raw.data)
        quotes = raw.data.count(b'"')
        while quotes % 2 and len(taken) < MAX_LINES and size < MAX_BYTES:
            more = self._next()
            if more is None:
                break
            taken.append(more)
            size += len(more.data) + 1
            quotes += more.data.count(b'"')
        values = _values(b"\n".join(line.data for line in taken)) if size < MAX_BYTES else None
        if len(taken) > 1 and (values is None or len(values) != width):
            self._ahead.extendleft(reversed(taken[1:]))
            return [raw], None
        return taken, values


def _values(data: bytes) -> list[str] | None:
    text = data.decode("utf-8", "replace").removeprefix(_BOM)
    try:
        found = list(csv.reader([f"{line}\n" for line in text.split("\n")], strict=True))
    except (csv.Error, ValueError):
        return None
    return found[0] if len(found) == 1 else None


def _names(values: list[str], table: Table) -> tuple[str, ...] | None:
    """The columns that a line names; none where it names none.

    Raises:
        RefusedError: It names too many columns, too long ones, or one twice.
    """
    names = tuple(table.canonical(value) if len(value) <= MAX_NAME else "" for value in values)
    if not table.needed <= set(names):
        return None
    if len(names) > MAX_COLUMNS:
        refuse("too_many_columns", f"at most {MAX_COLUMNS}", len(names))
    if len(set(names) - {""}) < len(names):
        refuse("duplicate_column", f"one column of each name of at most {MAX_NAME} characters")
    return names


def _named(columns: tuple[str, ...], values: list[str]) -> dict[str, Any]:
    if not columns:
        refuse("no_header", "a line of column names before the records")
    if len(values) != len(columns):
        refuse("columns", f"{len(columns)} values", len(values))
    return dict(zip(columns, values, strict=True))


def head_columns(head: bytes, canonical: Callable[[str], str]) -> frozenset[str]:
    """The columns that the beginning of a file names, in its first line or its first row."""
    text = head.lstrip()
    if text[:1] == b"{":
        value = first_value(head)
        names = list(value) if isinstance(value, dict) else []
    else:
        names = _values(text.partition(b"\n")[0].rstrip(b"\r")) or []
    return frozenset(canonical(name) for name in names if len(name) <= MAX_NAME)
