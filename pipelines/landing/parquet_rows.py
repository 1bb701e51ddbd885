"""Parquet files as records of JSON: one line per row, in bounded batches.

What a platform exports as JSON lines it often keeps as Parquet with the same fields. Each row
becomes one JSON object, so that the parser of the JSON reads it: times as RFC 3339 with
microseconds (a time without a zone stays without one), dates as ISO 8601, decimals as text, bytes
as text where they are UTF-8 and else as base64, UUIDs with dashes, lists, structs and maps nested.

A file is refused with a reason, and nothing is read from it on trust: the footer's counts, names
and depth are limited; pages are looked at before a column is decoded, because a few bytes of
dictionary indexes may stand for gigabytes; checksums are verified where there are any; and the text
that comes out may exceed the stored bytes only so far.
"""

import base64
import datetime as dt
import json
import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.landing.parquet_footer import (
    ENCRYPTED_MAGIC,
    MAGIC,
    MAX_DEPTH,
    MAX_FOOTER,
    MAX_ITEMS,
    TEXT,
    Footer,
    ParquetError,
    read_footer,
)
from pipelines.landing.parquet_pages import column_pages
from pipelines.landing.thrift import ThriftError

BATCH_ROWS = 4_096
BATCH_BYTES = 32 << 20
"""What a batch may take when decoded, as far as its pages tell."""
PIECE_BYTES = 4 << 20
"""Text of the rows that are converted at a time."""

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  a time that may have no zone
_LAST_US = 253_402_300_799_999_999
"""The end of the year 9999."""
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY_US = 86_400_000_000
_ENCODER = msgspec.json.Encoder()
_FAILURES = (
    pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError,
    NotImplementedError, RecursionError, AttributeError, pl.exceptions.PolarsError,
)  # fmt: skip
"""What pyarrow is known to raise of damaged files."""


class Limits(NamedTuple):
    """What reading a file may give.

    Attributes:
        row_bytes: Bytes of the JSON of one row; a longer one is given empty.
        text_floor: Text that any file may give.
        ratio: Text per stored byte beyond that.
    """

    row_bytes: int
    text_floor: int
    ratio: int


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does; one that cannot be opened does not."""
    try:
        with path.open("rb") as file:
            return file.read(4) in {MAGIC, ENCRYPTED_MAGIC}
    except OSError:
        return False


def check_parquet(path: Path) -> None:
    """See that the footer of a file is what it should be.

    Raises:
        ParquetError: It is not.
    """
    _open(path, read_footer(path)).close()


def parquet_lines(path: Path, limits: Limits) -> Iterator[bytes]:
    """The rows of a file as JSON, in order; a row that is too long is empty.

    Args:
        path: A file for which `is_parquet` holds.
        limits: What it may give.

    Raises:
        ParquetError: The file cannot be read on; the rows before stand.
    """
    footer = read_footer(path)
    most = max(limits.text_floor, path.stat().st_size * limits.ratio)
    given = 0
    with _open(path, footer) as file:
        for group, about in enumerate(footer.row_groups):
            if not about.row_count:
                continue
            rows = _rows_at_a_time(path, footer, group, limits, most)
            for line in _group_lines(file, footer, group, rows, limits):
                given += len(line)
                if given > most:
                    raise _too_compressed(limits, about.start)
                yield line


def _group_lines(
    file: pq.ParquetFile, footer: Footer, group: int, rows: int, limits: Limits
) -> Iterator[bytes]:
    about = footer.row_groups[group]
    count = 0
    try:
        for batch in file.iter_batches(rows, row_groups=[group], use_threads=False):
            count += batch.num_rows
            yield from _batch_lines(batch, limits.row_bytes)
    except _FAILURES as error:
        raise _unreadable_pages(group, about.start, _why(error)) from None
    if count != about.row_count:
        reason = f"{count} rows instead of {about.row_count}"
        raise _unreadable_pages(group, about.start, reason)


def _unreadable_pages(group: int, place: int, why: str) -> ParquetError:
    message = f"damaged: expected readable pages in row group {group + 1}, got {why}"
    return ParquetError(message, place)


def _open(path: Path, footer: Footer) -> pq.ParquetFile:
    """Open a file whose footer was looked at.

    Raises:
        ParquetError: It cannot be opened.
    """
    paths = [".".join(footer.columns[i].path) for i in sorted(_held_once(footer))]
    try:
        return pq.ParquetFile(
            path,
            read_dictionary=paths,
            pre_buffer=False,
            buffer_size=1 << 20,
            page_checksum_verification=True,
            coerce_int96_timestamp_unit="us",
            thrift_string_size_limit=MAX_FOOTER,
            thrift_container_size_limit=MAX_ITEMS,
            schema_depth_limit=MAX_DEPTH + 2,
        )
    except _FAILURES as error:
        message = f"damaged: expected a readable Parquet schema, got {_why(error)}"
        raise ParquetError(message) from None


def _held_once(footer: Footer) -> frozenset[int]:
    """Columns of texts that are read as dictionaries, so that a text that recurs is held once.

    Delta encodings cannot be read so.
    """
    texts = {i for i, column in enumerate(footer.columns) if column.kind == TEXT}
    for group in footer.row_groups:
        texts -= {i for i in texts if group.chunks and group.chunks[i].has_delta_encoding}
    return frozenset(texts)


def _rows_at_a_time(path: Path, footer: Footer, group: int, limits: Limits, most: int) -> int:
    """Rows of a batch that fit into memory whatever the pages hold.

    Raises:
        ParquetError: The pages decode to more than a file may give.
    """
    about = footer.row_groups[group]
    held_once = _held_once(footer)
    rows, total = BATCH_ROWS, 0
    with path.open("rb") as file:
        for index, column in enumerate(footer.columns):
            try:
                pages = column_pages(file, about.chunks[index])
            except ThriftError as error:
                raise _unreadable_pages(group, about.start, str(error)) from None
            total += pages.decoded_bytes
            if total > most or (column.is_repeated and pages.value_count > most // 8):
                raise _too_compressed(limits, about.start)
            is_dictionary = pages.has_dictionary and index not in held_once
            if column.kind == TEXT and (pages.shares_prefixes or is_dictionary):
                # Each value may repeat all of a page's text.
                if column.is_repeated:
                    message = "not_supported: expected lists of texts without delta encoding"
                    raise ParquetError(message, about.start)
                rows = min(rows, max(1, BATCH_BYTES // max(1, pages.largest_page)))
    return rows


def _too_compressed(limits: Limits, place: int) -> ParquetError:
    message = f"too_compressed: expected at most {limits.ratio} bytes of text per stored byte"
    return ParquetError(message, place)


def _why(error: BaseException) -> str:
    """What went wrong, without what the file holds."""
    text = str(error).lower()
    for word, meaning in (
        ("crc", "another checksum"),
        ("checksum", "another checksum"),
        ("encrypt", "encrypted columns"),
        ("decrypt", "encrypted columns"),
        ("limit", "more than the limits allow"),
        ("codec", "a compression that is not supported"),
        ("not implemented", "an encoding that is not supported"),
        ("thrift", "no valid metadata"),
        ("end of", "the end of the data"),
        ("magic", "no footer"),
    ):
        if word in text:
            return meaning
    if isinstance(error, MemoryError | pa.ArrowMemoryError):
        return "more than the memory"
    return "damaged data"


def _batch_lines(batch: pa.RecordBatch, row_bytes: int) -> Iterator[bytes]:
    """Rows as JSON; the batch is halved until its text is small."""
    if batch.num_rows > 1 and sum(map(_text_bytes, batch.columns)) > PIECE_BYTES:
        half = batch.num_rows // 2
        yield from _batch_lines(batch.slice(0, half), row_bytes)
        yield from _batch_lines(batch.slice(half), row_bytes)
        return
    if batch.num_rows == 1 and sum(map(_text_bytes, batch.columns)) > row_bytes:
        yield b""
        return
    names = batch.schema.names
    for values in zip(*(_values(column) for column in batch.columns), strict=True):
        line = _json(dict(zip(names, values, strict=True)))
        yield line if len(line) <= row_bytes else b""


def _json(row: dict[str, Any]) -> bytes:
    try:
        return _ENCODER.encode(row)
    except (UnicodeEncodeError, ValueError, OverflowError, RecursionError):
        return json.dumps(row, default=str).encode("ascii", "backslashreplace")


def _text_bytes(array: pa.Array) -> int:
    """About how many bytes of text an array gives, however often a text stands in it."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if not len(array.dictionary):
            return len(array)
        sizes = pc.binary_length(array.dictionary).cast(pa.int64())
        return int(pc.sum(sizes.take(array.indices)).as_py() or 0)
    if _is_list(kind) or pa.types.is_map(kind):
        parts = array.flatten() if _is_list(kind) else None
        if parts is None:
            start, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
            width = end - start
            return _text_bytes(array.keys.slice(start, width)) + _text_bytes(
                array.items.slice(start, width)
            )
        return len(array) + _text_bytes(parts)
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, array.flatten()))
    return int(array.nbytes)


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _values(array: pa.Array) -> list[Any]:
    """An array as values that JSON can hold."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary.take(array.indices)
        kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _extension(array)
    for holds, read in _FORMS:
        if holds(kind):
            return read(array)
    return [None if value is None else str(value) for value in array.to_pylist()]


def _plain(array: pa.Array) -> list[Any]:
    return list(array.to_pylist())


def _decimals(array: pa.Array) -> list[Any]:
    return [None if value is None else format(value, "f") for value in array.to_pylist()]


def _binaries(array: pa.Array) -> list[Any]:
    return [None if value is None else _bytes_text(value) for value in array.to_pylist()]


def _times_of_day(array: pa.Array) -> list[Any]:
    return [None if value is None else _time_text(value) for value in _microseconds(array)]


def _structs(array: pa.Array) -> list[Any]:
    names = [field.name for field in array.type]
    rows = zip(*map(_values, array.flatten()), strict=True) if names else ((),) * len(array)
    return [
        dict(zip(names, row, strict=True)) if is_valid else None
        for is_valid, row in zip(array.is_valid().to_pylist(), rows, strict=True)
    ]


def _maps(array: pa.Array) -> list[Any]:
    offsets = array.offsets.to_pylist()
    start, width = offsets[0], offsets[-1] - offsets[0]
    keys = map(str, _values(array.keys.slice(start, width)))
    pairs = list(zip(keys, _values(array.items.slice(start, width)), strict=True))
    return [
        dict(pairs[low - start : high - start]) if is_valid else None
        for is_valid, (low, high) in zip(
            array.is_valid().to_pylist(), pairwise(offsets), strict=True
        )
    ]


def _lists(array: pa.Array) -> list[Any]:
    lengths = [n or 0 for n in pc.list_value_length(array).to_pylist()]
    items = iter(_values(array.flatten()))
    return [
        [next(items) for _ in range(length)] if is_valid else None
        for is_valid, length in zip(array.is_valid().to_pylist(), lengths, strict=True)
    ]


def _extension(array: pa.ExtensionArray) -> list[Any]:
    values = _values(array.storage)
    if array.type.extension_name == "arrow.uuid":
        raw = array.storage.to_pylist()
        return [None if v is None else str(uuid.UUID(bytes=v)) for v in raw]
    return values


def _texts(array: pa.Array) -> list[Any]:
    try:
        return list(array.to_pylist())
    except UnicodeDecodeError:
        kind = pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary()
        raw = array.cast(kind).to_pylist()
        return [None if v is None else v.decode("utf-8", "replace") for v in raw]


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _microseconds(array: pa.Array) -> list[int | None]:
    """Times in microseconds, cut downwards."""
    unit = array.type.unit
    numbers = array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32())
    if unit == "ns":
        filled = numbers.fill_null(0).to_numpy(zero_copy_only=False)
        cut = np.floor_divide(filled, 1_000).tolist()
        return [v if ok else None for v, ok in zip(cut, array.is_valid().to_pylist(), strict=True)]
    factor = _UNITS[unit]
    return [None if v is None else v * factor for v in numbers.to_pylist()]


def _timestamps(array: pa.Array) -> list[Any]:
    zone = "Z" if array.type.tz is not None else ""
    found = _microseconds(array)
    stated = [v for v in found if v is not None]
    if stated and min(stated) >= 0 and max(stated) <= _LAST_US:
        texts = pl.Series(found, dtype=pl.Datetime("us")).dt.strftime(
            f"%Y-%m-%dT%H:%M:%S%.6f{zone}"
        )
        return texts.to_list()
    return [None if v is None else _instant_text(v, zone) for v in found]


def _instant_text(value: int, zone: str) -> str:
    """A time as text; one of no year from 1 to 9999 as its number, which no parser takes."""
    try:
        at = _EPOCH + dt.timedelta(microseconds=value)
    except OverflowError:
        return str(value)
    return f"{at.isoformat(timespec='microseconds')}{zone}"


def _dates(array: pa.Array) -> list[Any]:
    numbers = array.cast(pa.int32() if pa.types.is_date32(array.type) else pa.int64()).to_pylist()
    factor = _DAY_US if pa.types.is_date32(array.type) else 1_000
    texts = [None if v is None else _instant_text(v * factor, "") for v in numbers]
    return [t if t is None else t.partition("T")[0] for t in texts]


def _time_text(value: int) -> str:
    seconds, micros = divmod(value, 1_000_000)
    hours, rest = divmod(seconds, 3_600)
    return f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.{micros:06d}"


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


_FORMS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]], ...] = (
    (_is_text, _texts),
    (_is_number, _plain),
    (pa.types.is_timestamp, _timestamps),
    (pa.types.is_date, _dates),
    (pa.types.is_time, _times_of_day),
    (pa.types.is_decimal, _decimals),
    (_is_binary, _binaries),
    (pa.types.is_struct, _structs),
    (pa.types.is_map, _maps),
    (_is_list, _lists),
)
"""How values of a type are written; what is none of these is written as its text."""
