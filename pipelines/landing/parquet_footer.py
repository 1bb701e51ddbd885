"""What the footer of a Parquet file says, and the limits that it must keep.

Source: the Parquet format's `parquet.thrift`. The footer is looked at before pyarrow opens the
file: it may be damaged, encrypted, or name more columns, levels and bytes than anyone exports.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from pipelines.landing.thrift import Fields, ShortError, ThriftError, ThriftReader

MAX_COLUMNS = 2_000
"""Bills have the widest exports, with some hundred columns."""
MAX_NAME = 512
"""Characters of a column's name."""
MAX_DEPTH = 32
"""Levels of the schema, of which a list or a map takes two or three."""
MAX_FOOTER = 64 << 20
"""Bytes of a footer; it grows with columns and row groups, not with rows."""
MAX_ITEMS = 2_000_000
"""Parts of a footer: columns of row groups, their encodings and statistics."""

MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"
TEXT = 6
"""The physical type BYTE_ARRAY."""
_TAIL = 8
_REPEATED = 2
_DELTA_ENCODINGS = (5, 6, 7)
_INT64_MAX = 2**63 - 1


class ParquetError(Exception):
    """A file cannot be read on; the message is `word: …`.

    Attributes:
        offset: Byte of the file from which on it is not read.
    """

    def __init__(self, reason: str, offset: int = 0) -> None:
        """Keep the reason and the place."""
        super().__init__(reason)
        self.offset = offset


@dataclass(frozen=True)
class Column:
    """One leaf of the schema.

    Attributes:
        path: Its names from the outermost.
        kind: Physical type by number.
        is_repeated: Whether a row may have several of its values.
    """

    path: tuple[str, ...]
    kind: int | None
    is_repeated: bool


@dataclass(frozen=True)
class Chunk:
    """The values of one column in one row group.

    Attributes:
        start: Byte of the file at which its pages begin.
        stored_bytes: Bytes of its pages, compressed.
        has_delta_encoding: Whether values are written as differences to the ones before.
    """

    start: int
    stored_bytes: int
    has_delta_encoding: bool


@dataclass(frozen=True)
class RowGroup:
    """A stretch of rows.

    Attributes:
        row_count: Rows.
        chunks: What stands of each column, in the order of the columns; none without rows.
    """

    row_count: int
    chunks: tuple[Chunk, ...]

    @property
    def start(self) -> int:
        """Byte of the file at which it begins."""
        return min(chunk.start for chunk in self.chunks)


@dataclass(frozen=True)
class Footer:
    """What a file holds.

    Attributes:
        columns: The leaves of the schema.
        row_groups: The stretches of rows, in order.
    """

    columns: tuple[Column, ...]
    row_groups: tuple[RowGroup, ...]


def read_footer(path: Path) -> Footer:
    """Read and check the footer of a file.

    Raises:
        ParquetError: It is damaged, missing or encrypted, or does not keep the limits.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
        if ENCRYPTED_MAGIC in {head, tail[4:]}:
            message = "encrypted: expected a Parquet file in clear text, got an encrypted footer"
            raise ParquetError(message)
        if size < 4 + _TAIL or tail[4:] != MAGIC:
            message = "truncated: expected a Parquet footer, got the end of the file"
            raise ParquetError(message, size)
        length = int.from_bytes(tail[:4], "little")
        if length > min(size - 4 - _TAIL, MAX_FOOTER):
            message = f"damaged: expected a Parquet footer inside the file, got {length} bytes"
            raise ParquetError(message)
        file.seek(size - _TAIL - length)
        data = file.read(length)
    try:
        fields = ThriftReader(data, MAX_ITEMS).struct()
    except (ThriftError, ShortError) as error:
        got = str(error) or "its end too early"
        message = f"damaged: expected a readable Parquet footer, got {got}"
        raise ParquetError(message) from None
    if fields.get(8) is not None:
        message = "encrypted: expected a Parquet file in clear text, got encrypted columns"
        raise ParquetError(message)
    columns = _columns(fields)
    groups = fields.get(4)
    if not isinstance(groups, list):
        _damaged("row groups")
    return Footer(columns, tuple(_row_group(group, columns, size) for group in groups))


def _damaged(what: str) -> NoReturn:
    message = f"damaged: expected {what} in the Parquet footer, got none that fit"
    raise ParquetError(message)


def _columns(fields: Fields) -> tuple[Column, ...]:
    """The leaves of the schema, which is a tree written branch by branch."""
    stated = fields.get(2)
    if not isinstance(stated, list) or not stated:
        _damaged("a schema")
    elements = iter(stated)
    _, children = _element(next(elements))
    columns: list[Column] = []
    for _ in range(min(children, MAX_COLUMNS + 1)):
        columns += _leaves(elements, (), MAX_COLUMNS - len(columns), is_repeated=False)
    if next(elements, None) is not None:
        _damaged("one schema")
    if not columns:
        message = "no_columns: expected at least one column in the Parquet file"
        raise ParquetError(message)
    top = [column.path[0] for column in columns]
    if len(set(top)) < children:
        message = "duplicate_column: expected one column of each name"
        raise ParquetError(message)
    return tuple(columns)


def _leaves(
    elements: Iterator[Any], names: tuple[str, ...], most: int, *, is_repeated: bool
) -> list[Column]:
    """The leaves of the next branch."""
    element: Any = next(elements, None)
    name, children = _element(element)
    names = (*names, name)
    is_repeated = is_repeated or element.get(3) == _REPEATED
    if len(names) > MAX_DEPTH:
        message = f"too_deep: expected at most {MAX_DEPTH} levels of columns, got more"
        raise ParquetError(message)
    found = [] if children else [Column(names, element.get(1), is_repeated)]
    for _ in range(children):
        found += _leaves(elements, names, most - len(found), is_repeated=is_repeated)
    if len(found) > most:
        message = f"too_many_columns: expected at most {MAX_COLUMNS}, got more"
        raise ParquetError(message)
    return found


def _element(element: Any) -> tuple[str, int]:  # noqa: ANN401  whatever the footer holds
    """Name and number of children of a part of the schema."""
    name = element.get(4) if isinstance(element, dict) else None
    children = (element.get(5) or 0) if isinstance(element, dict) else None
    if not isinstance(name, bytes) or not _is_count(children):
        _damaged("names of columns")
    try:
        text = name.decode()
    except UnicodeDecodeError:
        _damaged("names of columns in UTF-8")
    if len(text) > MAX_NAME:
        message = f"name_too_long: expected names of at most {MAX_NAME} characters, got {len(text)}"
        raise ParquetError(message)
    return text, children


def _row_group(group: Any, columns: tuple[Column, ...], size: int) -> RowGroup:  # noqa: ANN401
    chunks = group.get(1) if isinstance(group, dict) else None
    rows = group.get(3) if isinstance(group, dict) else None
    if not isinstance(chunks, list) or len(chunks) != len(columns) or not _is_count(rows):
        _damaged("row groups with all columns")
    # Without rows nothing is read, and the places of columns are zero.
    return RowGroup(rows, tuple(_chunk(chunk, size) for chunk in chunks) if rows else ())


def _chunk(chunk: Any, size: int) -> Chunk:  # noqa: ANN401  whatever the footer holds
    if isinstance(chunk, dict) and chunk.get(8) is not None:
        message = "encrypted: expected a Parquet file in clear text, got encrypted columns"
        raise ParquetError(message)
    about = chunk.get(3) if isinstance(chunk, dict) else None
    if not isinstance(about, dict):
        _damaged("what a column holds")
    start, stored, dictionary = about.get(9), about.get(7), about.get(11)
    encodings = about.get(2)
    if not _is_count(start) or not _is_count(stored) or not isinstance(encodings, list):
        _damaged("the place of a column")
    if _is_count(dictionary) and 0 < dictionary < start:
        start = dictionary
    if stored and not len(MAGIC) <= start <= size - stored:
        _damaged("columns inside of the file")
    return Chunk(start, stored, any(code in _DELTA_ENCODINGS for code in encodings))


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _INT64_MAX
