"""Ids of many JSON records at once, as `json_items.whole_record_id` gives them one by one."""

import hashlib

import duckdb
import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging.column_rules import TEXT
from transforms.staging.line_columns import Mask

_BLANK, _NEWLINE, _QUOTE, _BACKSLASH = 32, 10, 34, 92
_OTHER_BLANKS = (9, 13)
_ESCAPED_BACKSLASH = b"\\\\"


def whole_ids(text: bytes, count: int, connection: duckdb.DuckDBPyConnection) -> pa.Array:
    """Ids of lines that are JSON: the md5 of each without the blanks between its values.

    Args:
        text: Lines of UTF-8 that are one JSON value each; every one has an end.
        count: How many there are.
        connection: A database that hashes them.
    """
    if not count:
        return pa.array([], TEXT)
    if _ESCAPED_BACKSLASH not in text:
        return _ids(text, connection)
    # Whether a quote behind backslashes ends a text depends on how many there are.
    lines = text.split(b"\n")[:-1]
    is_odd = np.array([_ESCAPED_BACKSLASH in line for line in lines])
    ids = _ids(
        b"".join(b"{}\n" if odd else line + b"\n" for line, odd in zip(lines, is_odd, strict=True)),
        connection,
    )
    others = [_id(line) for line, odd in zip(lines, is_odd, strict=True) if odd]
    return pc.replace_with_mask(ids, pa.array(is_odd), pa.array(others, TEXT))


def _id(line: bytes) -> str:
    bare = msgspec.json.format(line, indent=-1)
    return hashlib.md5(bare, usedforsecurity=False).hexdigest()


def _ids(text: bytes, connection: duckdb.DuckDBPyConnection) -> pa.Array:
    """Ids of lines in which no two backslashes stand side by side."""
    found = _without_blanks(text)
    # What is in front of a line's end, but for the ends before it.
    ends = np.flatnonzero(found == _NEWLINE)
    offsets = np.concatenate((np.zeros(1, np.int64), ends - np.arange(len(ends))))
    bare = found[found != _NEWLINE]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(bare)]
    values = pa.Array.from_buffers(TEXT, len(ends), buffers)
    return md5(pa.table({"line": values}), connection)


def md5(lines: pa.Table, connection: duckdb.DuckDBPyConnection) -> pa.Array:
    """The md5 of each `line`, as hex digits."""
    ids = connection.from_arrow(lines).project("MD5(line) AS id").to_arrow_table()
    return ids.column("id").combine_chunks().cast(TEXT)


def _without_blanks(text: bytes) -> npt.NDArray[np.uint8]:
    """The bytes of lines, without blanks outside of texts."""
    data = np.frombuffer(text, np.uint8)
    is_quote: Mask = data == _QUOTE
    if b"\\" in text:
        is_quote[1:] &= data[:-1] != _BACKSLASH
    # A quote opens or closes a text, so that inside of one an odd number stands before.
    is_inside = np.bitwise_xor.accumulate(is_quote.view(np.uint8)).view(np.bool_)
    kept = (data != _BLANK) | is_inside
    for blank in _OTHER_BLANKS:
        if blank in text:
            kept &= (data != blank) | is_inside
    found: npt.NDArray[np.uint8] = data[kept]
    return found
