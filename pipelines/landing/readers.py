"""Open export files with checked decompression and cut them into raw records.

Compression is read from the content, never from the name. A truncated stream keeps what was
readable before the break; the break itself becomes one reject. A stream that is damaged inside (a
wrong checksum, an invalid block) may have given wrong text long before that shows, so nothing of it
is kept but the reject. A Parquet file is text, too: one JSON line per row.
"""

import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol, cast

import msgspec
import pyarrow as pa
from isal import igzip, isal_zlib

from pipelines.landing.parquet_footer import ParquetError
from pipelines.landing.parquet_rows import Limits, check_parquet, is_parquet, parquet_lines
from transforms.staging.parser import RawRecord, Shape

BLOCK = 1 << 20
PIECE = 128 << 10
"""What damage costs at most: text of the read in which it is found."""
HEAD_BYTES = 64 << 10
MAX_LINE_BYTES = 16 << 20
"""A longer line is a reject; exporters cut far below (Hubble: one event, CRI: 16 KiB)."""
MAX_DOCUMENT_BYTES = 256 << 20
"""A JSON document is parsed whole, so its size bounds memory."""
MAX_RATIO = 1_000
"""Text per stored byte; logs compress 10 to 30 times, a bomb thousands."""
RATIO_FLOOR = 64 << 20
"""Small files may compress as well as they like."""

UNREADABLE = "unreadable"
"""First word of the reason where a file could not even be opened."""

_DAMAGED: tuple[type[Exception], ...] = (
    EOFError,
    OSError,
    pa.ArrowException,
    zlib.error,
    cast("type[Exception]", isal_zlib.IsalError),  # its stub says instance
)
PEEKED_LINES = 8
"""Lines that tell whether a file is one document or a record a line."""
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_SERIES = re.compile(
    rb"\{[ \t]*__name__[ \t]*=|[a-zA-Z_:][a-zA-Z0-9_:]*\{[a-zA-Z_]|# (?:HELP|TYPE) "
)
"""Beginning of a line of metrics as text, also of `promtool tsdb dump`: never that of JSON."""


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Break:
    """Where a stream could not be read on.

    Attributes:
        offset: Bytes of text that were readable.
        reason: Why, as `word: …`.
        is_damage: A compressed stream is damaged inside: text before it may be wrong, too.
    """

    offset: int
    reason: str
    is_damage: bool = False


@dataclass(frozen=True)
class Scan:
    """What one checked pass over a file found.

    Attributes:
        text_bytes: Bytes of readable text.
        content_hash: SHA-256 of them, or of the stored bytes.
        prefixes: (length, SHA-256) of the beginnings that were asked for, shortest first.
        broken: Where reading stopped, if it did.
    """

    text_bytes: int
    content_hash: str
    prefixes: tuple[tuple[int, str], ...]
    broken: Break | None


def blocks(path: Path) -> Iterator[bytes | Break]:
    """The decompressed text in blocks; a final `Break` where the stream is damaged."""
    offset = 0
    stored = path.stat().st_size
    try:
        stream = _open(path)
    except OSError as error:
        yield Break(0, f"{UNREADABLE}: {error.strerror or 'cannot be opened'}")
        return
    try:
        # A decompressor that finds damage drops the whole read in which it finds it.
        while block := stream.read(BLOCK if isinstance(stream, io.RawIOBase) else PIECE):
            offset += len(block)
            if offset > RATIO_FLOOR and offset > stored * MAX_RATIO:
                yield Break(
                    offset,
                    f"too_compressed: expected at most {MAX_RATIO} bytes of text per stored byte",
                )
                return
            yield bytes(block)
    except _DAMAGED as error:
        reason = _why(error)
        is_packed = not isinstance(stream, io.RawIOBase)
        yield Break(offset, reason, is_damage=is_packed and not reason.startswith("truncated"))
    finally:
        stream.close()


def damage_of(path: Path) -> Break | None:
    """Where the stream of a compressed file is damaged inside; none of a truncated or whole one."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] != _GZIP and magic != _ZSTD:
        return None
    found = [block for block in blocks(path) if isinstance(block, Break) and block.is_damage]
    return found[0] if found else None


def head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of the text; of a Parquet file, the JSON of its first rows."""
    if is_parquet(path):
        return _head_of_rows(path, size)
    found = b""
    for block in blocks(path):
        if isinstance(block, Break):
            break
        found += block[: size - len(found)]
        if len(found) >= size:
            break
    return found.removeprefix(_BOM)


def scan(path: Path, prefix_lengths: Sequence[int] = ()) -> Scan:
    """Hash a file, and its beginnings at the lengths at which an earlier content may end.

    The content of a Parquet file is its bytes; so is that of a stream that is damaged inside, which
    is no copy of a whole one, however much of its text seems to be.

    Args:
        path: The file.
        prefix_lengths: Lengths of earlier contents.
    """
    whole = hashlib.sha256()
    lengths = sorted(set(prefix_lengths), reverse=True)
    prefixes: list[tuple[int, str]] = []
    offset, broken = 0, None
    for block in blocks(path):
        if isinstance(block, Break):
            broken = block
            break
        start = 0
        while lengths and lengths[-1] <= offset + len(block):
            cut = lengths.pop() - offset
            whole.update(memoryview(block)[start:cut])
            prefixes.append((offset + cut, whole.hexdigest()))
            start = cut
        whole.update(memoryview(block)[start:])
        offset += len(block)
    if broken is None and is_parquet(path):
        broken = _damage_of_rows(path)
    if broken is not None and broken.is_damage:
        with path.open("rb") as file:
            stored = hashlib.file_digest(file, "sha256")
        return Scan(offset, stored.hexdigest(), (), broken)
    proper = tuple(p for p in prefixes if p[0] < offset)
    return Scan(offset, whole.hexdigest(), proper, broken)


def raw_records(path: Path, shape: Shape) -> Iterator[RawRecord | Break]:
    """Cut a file into raw records, and say at the end where it broke.

    A line longer than MAX_LINE_BYTES is given as an empty `data` with its locator; callers reject
    it. The rows of a Parquet file are raw records of JSON, `row N`, that have no offset in any text
    and get 0.
    """
    if is_parquet(path):
        yield from _rows(path)
        return
    if is_read_by_lines(path, shape):
        yield from _lines(path)
    else:
        yield from _document(path)


def is_read_by_lines(path: Path, shape: Shape) -> bool:
    """Whether a file of text is cut into lines, rather than taken as one document."""
    return shape != "json" or _is_line_delimited(path)


def _limits() -> Limits:
    return Limits(MAX_LINE_BYTES, RATIO_FLOOR, MAX_RATIO)


def _rows(path: Path) -> Iterator[RawRecord | Break]:
    try:
        for number, line in enumerate(parquet_lines(path, _limits()), 1):
            yield RawRecord(f"row {number}", 0, line)
    except ParquetError as error:
        yield Break(error.offset, str(error))


def _head_of_rows(path: Path, size: int) -> bytes:
    found = b""
    try:
        for line in parquet_lines(path, _limits()):
            found += line + b"\n"
            if len(found) >= size:
                break
    except ParquetError:
        pass  # the break is found and named where the file is scanned
    return found[:size]


def _damage_of_rows(path: Path) -> Break | None:
    try:
        check_parquet(path)
    except ParquetError as error:
        return Break(error.offset, str(error))
    return None


def _lines(path: Path) -> Iterator[RawRecord | Break]:
    pending, start, number = b"", 0, 0
    skipping, is_first = False, True
    for block in blocks(path):
        if isinstance(block, Break):
            # What stands behind the last line end may be half a record: it belongs to the break.
            yield Break(start, block.reason)
            return
        parts = block.split(b"\n")
        if is_first and parts[0].startswith(_BOM):
            parts[0] = parts[0].removeprefix(_BOM)
            start = len(_BOM)
        is_first = False
        parts[0] = pending + parts[0]
        pending = parts.pop()
        for line in parts:
            number += 1
            if skipping:
                skipping = False
                start += len(line) + 1
                continue
            if len(line) > MAX_LINE_BYTES:
                yield RawRecord(f"line {number}", start, b"")
            elif line.strip():
                yield RawRecord(f"line {number}", start, line.rstrip(b"\r"))
            start += len(line) + 1
        if len(pending) > MAX_LINE_BYTES:
            if not skipping:
                yield RawRecord(f"line {number + 1}", start, b"")
                skipping = True
            start += len(pending)
            pending = b""
    if pending.strip() and not skipping:
        yield RawRecord(f"line {number + 1}", start, pending.rstrip(b"\r"))


def _document(path: Path) -> Iterator[RawRecord | Break]:
    text, size = [], 0
    for block in blocks(path):
        if isinstance(block, Break):
            yield Break(0, block.reason)
            return
        size += len(block)
        if size > MAX_DOCUMENT_BYTES:
            yield Break(
                0, f"too_large: expected a JSON document of at most {MAX_DOCUMENT_BYTES} bytes"
            )
            return
        text.append(block)
    whole = b"".join(text)
    document = whole.removeprefix(_BOM)
    if document.strip():
        yield RawRecord("$", len(whole) - len(document), document)


def _is_line_delimited(path: Path) -> bool:
    """Whether a file that may be a JSON document is read by lines.

    A document on one line is read as one line, which gives the same records. What begins without
    a bracket is no document, so that a log written as text or as JSON is read by lines as either.
    Where the first line is damaged, as where a rotated file begins inside a line, the next ones
    tell.
    """
    text = b""
    for block in blocks(path):
        if isinstance(block, Break):
            break
        text = (text.removeprefix(_BOM) + block).lstrip()
        if text.count(b"\n") >= PEEKED_LINES or len(text) > MAX_LINE_BYTES:
            break
    text = text.removeprefix(_BOM).lstrip()
    if text[:1] not in {b"{", b"["}:
        return True
    lines = [line.rstrip() for line in text.split(b"\n", PEEKED_LINES)[:PEEKED_LINES]]
    first = lines[0]
    if len(first) > MAX_LINE_BYTES:
        return False
    if any(_SERIES.match(line) for line in lines):
        return True
    # A first line that is damaged, but opens and closes, is a damaged line of a line file.
    if _is_whole(first) or (first[:1] == b"{" and first[-1:] == b"}" and len(first) > 2):
        return True
    behind = [line for line in lines[1:] if line.strip()]
    if 2 * sum(_IN_DOCUMENT.match(line) is None for line in behind) > len(behind):
        return True  # a log of text behind a line that is damaged
    # Inside a document a value stands behind `[`, `,` or `:`.
    return any(
        line[:1] in {b"{", b"["} and before[-1:] not in {b"[", b",", b":"} and _is_whole(line)
        for before, line in pairwise(filter(None, lines))
    )


_IN_DOCUMENT = re.compile(
    rb"""\s*(?:["{}\[\]:,]|(?:-?[0-9][0-9.eE+-]*|true|false|null)[]},\s]*\Z)"""
)
"""How a line of a JSON document over several lines may begin, or what it holds."""


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _open(path: Path) -> _Readable:
    with path.open("rb") as file:
        magic = file.read(4)
    stream: _Readable
    if magic[:2] == _GZIP:
        stream = igzip.IGzipFile(path, "rb")  # type: ignore[no-untyped-call]
    elif magic == _ZSTD:
        # Other zstd readers return the readable part of a truncated file without an error.
        stream = pa.input_stream(str(path), compression="zstd")
    else:
        stream = path.open("rb", buffering=0)
    return stream


def _why(error: Exception) -> str:
    text = str(error).lower()
    if isinstance(error, EOFError) or "truncated" in text or "end-of-stream" in text:
        return "truncated: expected the end of the compressed stream, got the end of the file"
    if "crc" in text or "checksum" in text or "length check" in text:
        return "checksum: expected the checksum in the stream, got another one"
    return "damaged: expected a valid compressed stream"
