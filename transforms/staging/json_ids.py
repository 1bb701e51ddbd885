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
_FEW = 20
"""Of so many lines one may have blanks, so that such lines are better read singly."""
_BESIDE_BLANK = np.zeros(256, np.bool_)
_BESIDE_BLANK[list(b"{}[],: \t\r\n")] = True


def whole_ids(text: bytes, count: int, connection: duckdb.DuckDBPyConnection) -> pa.Array:
    """Ids of lines that are JSON: the md5 of each without the blanks between its values.

    Args:
        text: Lines of UTF-8 that are one JSON value each; every one has an end.
        count: How many there are.
        connection: A database that hashes them.
    """
    if not count:
        return pa.array([], TEXT)
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    # Most exporters write no blanks between values; where one stands, a bracket, a comma, a colon
    # or another blank stands beside it.
    blanks = _blanks(text, data)
    beside = _BESIDE_BLANK[data[blanks + 1]] | _BESIDE_BLANK[data[blanks - 1]]
    is_odd = np.zeros(count, np.bool_)
    is_odd[np.searchsorted(ends, blanks[beside])] = True
    odd = np.flatnonzero(is_odd)
    if _FEW * len(odd) <= count:
        ids = _ids_of(text, ends)
    elif _ESCAPED_BACKSLASH in text:
        # Whether a quote behind backslashes ends a text depends on how many there are.
        lines = text.split(b"\n")[:-1]
        odd = np.flatnonzero([_ESCAPED_BACKSLASH in line for line in lines])
        for number in odd.tolist():
            lines[number] = b"{}"
        ids = _ids_without_blanks(b"\n".join((*lines, b"")), connection)
    else:
        return _ids_without_blanks(text, connection)
    if not len(odd):
        return ids
    starts = np.append(0, ends + 1)
    others = [_id(text[starts[number] : ends[number]]) for number in odd.tolist()]
    mask = np.zeros(count, np.bool_)
    mask[odd] = True
    return pc.replace_with_mask(ids, pa.array(mask), pa.array(others, TEXT))


def _blanks(text: bytes, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    is_blank = data == _BLANK
    for blank in _OTHER_BLANKS:
        if blank in text:
            is_blank |= data == blank
    return np.flatnonzero(is_blank)


def _ids_of(text: bytes, ends: npt.NDArray[np.int64]) -> pa.Array:
    """Ids of lines as they are."""
    # A copy takes two thirds of the time in which another hash is begun.
    begun, ids = hashlib.md5(usedforsecurity=False), []
    starts = [0, *(ends[:-1] + 1).tolist()]
    for low, high in zip(starts, ends.tolist(), strict=True):
        found = begun.copy()
        found.update(text[low:high])
        ids.append(found.hexdigest())
    return pa.array(ids, TEXT)


def _id(line: bytes) -> str:
    bare = msgspec.json.format(line, indent=-1)
    return hashlib.md5(bare, usedforsecurity=False).hexdigest()


def _ids_without_blanks(text: bytes, connection: duckdb.DuckDBPyConnection) -> pa.Array:
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
