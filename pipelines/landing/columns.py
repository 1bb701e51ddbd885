"""Big files of a format that has a reader of columns: text cut for it, memory for it, its batches.

`JSON_FORMATS` names the formats that `json_columns` reads, a module each; Hubble events and the
text of S3 access logs have readers of their own.

The reader of columns gives the rows that the line reader gives. What stands here is what touches
the world: the file's compression, blocks of whole lines, and memory that the engine opens as a
file, because text of an export that is not redacted must not be written to a disk.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Literal

import numpy as np

from pipelines.landing.frames import Provenance, TableJudge
from pipelines.landing.readers import MAX_LINE_BYTES, Break, blocks, head, is_read_by_lines
from transforms.sql import SqlSession
from transforms.staging.column_batch import ColumnBatch
from transforms.staging.hubble_columns import TextFile, parse_columns
from transforms.staging.json_columns import JsonColumns
from transforms.staging.line_blocks import TextBlock
from transforms.staging.line_columns import LineColumns, parse_lines
from transforms.staging.parser import FileContext, Parsed, Parser
from transforms.staging.s3_columns import S3Lines

JSON_FORMATS = frozenset(
    {
        "azure_dns",
        "azure_storage",
        "ceph_rgw",
        "cloudtrail",
        "coredns",
        "dns_collector",
        "gcp_dns",
        "gcs_audit",
        "inspektor_gadget",
        "kubernetes_audit",
        "minio_audit",
        "netobserv",
        "route53",
        "s3_access_log",
        "zeek_dns",
    }
)
"""Formats whose JSON lines are read by the columns of `transforms.staging.<format>_columns`."""
_HUBBLE, _S3 = "hubble", "s3_access_log"
COLUMNS_FROM = 1 << 20
"""Bytes of text from which starting the engine pays."""
BLOCK_BYTES = 128 << 10
"""Text of a block; only blocks in which a line is looked up are taken apart, so they are small."""
_LONGEST_KEY = 32
"""Bytes that a key takes which may not stand in a file."""
_MEMORY = "1GB"
"""What the engine may take; reading needs a tenth of it."""
_LINE_END = ord("\n")
_BOM = b"\xef\xbb\xbf"
_MAGIC: dict[bytes, Literal["gzip", "zstd"]] = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}


def has_columns(path: Path, parser: Parser) -> bool:
    """Whether a local file without wrappers is of lines for which there is a reader of columns."""
    if parser.name == _HUBBLE:
        return True
    if parser.name in JSON_FORMATS and _is_json(path):
        alone = json_columns(parser.name).alone
        is_alone = alone is None or _is_of_objects(path, alone)
        return is_alone and is_read_by_lines(path, parser.shape)
    return parser.name == _S3


def _is_of_objects(path: Path, keys: Sequence[str]) -> bool:
    """Whether every line of a file begins as an object, and some keys stand nowhere in it."""
    patterns = [re.compile(re.escape(f'"{key}"').encode() + rb"\s*:") for key in keys]
    before = b"\n"
    for block in blocks(path):
        if isinstance(block, Break):
            break
        text = before + block
        # What begins at the end of a block is looked at with the next one.
        is_of_objects = text.count(b"\n", 0, -1) == text.count(b"\n{")
        if not is_of_objects or any(pattern.search(text) for pattern in patterns):
            return False
        before = text[-_LONGEST_KEY:]
    return True


def _is_json(path: Path) -> bool:
    return head(path).removeprefix(_BOM).lstrip()[:1] in {b"{", b"["}


def column_batches(
    path: Path, format_name: str, context: FileContext, export_file_id: str
) -> Iterator[ColumnBatch]:
    """Parse a file that has columns, in batches in source order.

    Args:
        path: A local file.
        format_name: Its format.
        context: What is known of it.
        export_file_id: Its id.
    """
    judge = TableJudge(Provenance(export_file_id, format_name, context.cluster))
    # One thread: files are read side by side, each by a process of its own.
    with SqlSession(threads=1, memory_limit=_MEMORY) as session, _memory() as scratch:
        if format_name == _HUBBLE:
            file = TextFile(str(path), _compression(path))
            yield from parse_columns(
                file,
                text_blocks(path),
                context,
                session,
                export_file_id=export_file_id,
                scratch=scratch,
                judge=judge,
            )
            return
        columns: LineColumns
        if format_name in JSON_FORMATS and _is_json(path):
            columns = json_columns(format_name).reader(context, session, scratch)
        else:
            columns = S3Lines(context)
        yield from parse_lines(
            text_blocks(path), context, columns, export_file_id=export_file_id, judge=judge
        )


def json_columns(format_name: str) -> JsonColumns:
    """The columns of one of JSON_FORMATS."""
    found = import_module(f"transforms.staging.{format_name}_columns").COLUMNS
    if not isinstance(found, JsonColumns):
        raise TypeError(format_name)
    return found


def text_blocks(path: Path) -> Iterator[TextBlock | Parsed]:
    """The text in blocks of whole lines, with the same lines and refusals as the line reader has.

    A line longer than MAX_LINE_BYTES, and the break of a damaged stream, are refused records. What
    stands between the last line end and a break belongs to the break.
    """
    pending, offset, number = b"", 0, 1
    skipping = False
    for block in blocks(path):
        if isinstance(block, Break):
            yield Parsed(f"byte {offset}", offset, b"", reject=block.reason)
            return
        data = block
        if skipping:
            _, line_end, data = block.partition(b"\n")
            offset += len(block) - len(data)
            if not line_end:
                continue
            number += 1
            skipping = False
        place = 0
        while end := _cut(data, place):
            whole = data[place:end]
            if pending:
                whole, pending = pending + whole, b""
            lines = _line_ends(whole)
            yield from _short_lines(TextBlock(number, lines, offset, whole))
            number += lines
            offset += len(whole)
            place = end
        pending += data[place:]
        if len(pending) > MAX_LINE_BYTES:
            yield _too_long(number, offset)
            offset += len(pending)
            pending, skipping = b"", True
    if pending.strip():
        yield TextBlock(number, 1, offset, pending)


def _line_ends(data: bytes) -> int:
    """How many line ends there are; `bytes.count` takes three times as long."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == _LINE_END))


def _cut(data: bytes, start: int) -> int:
    """Where to cut, behind a line end; 0 if there is none."""
    end = data.rfind(b"\n", start, start + BLOCK_BYTES) + 1
    return end if end > start else data.find(b"\n", start) + 1


def _short_lines(block: TextBlock) -> Iterator[TextBlock | Parsed]:
    """The block, without its lines that are too long."""
    if len(block.data) <= MAX_LINE_BYTES:
        yield block
        return
    number, offset = block.first_line, block.offset
    for line in _lines(block.data):
        if len(line) - 1 > MAX_LINE_BYTES:
            yield _too_long(number, offset)
        else:
            yield TextBlock(number, 1, offset, line)
        number += 1
        offset += len(line)


def _lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _too_long(number: int, offset: int) -> Parsed:
    reason = f"line_too_long: expected at most {MAX_LINE_BYTES} bytes"
    return Parsed(f"line {number}", offset, b"", reject=reason)


def _compression(path: Path) -> Literal["none", "gzip", "zstd"]:
    with path.open("rb") as file:
        return _MAGIC.get(file.read(2), "none")


class _Memory:
    """A file in memory that has no name in any directory."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.path = f"/proc/self/fd/{descriptor}"

    def fill(self, parts: Iterable[bytes | memoryview]) -> None:
        """Replace what it holds."""
        place = 0
        for part in parts:
            rest = memoryview(part)
            while rest:
                written = os.pwrite(self._descriptor, rest, place)
                place += written
                rest = rest[written:]
        os.ftruncate(self._descriptor, place)


@contextmanager
def _memory() -> Iterator[_Memory | None]:
    """Memory to open as a file; none on systems that have no such files."""
    if not hasattr(os, "memfd_create"):
        yield None
        return
    descriptor = os.memfd_create("podledger")
    try:
        yield _Memory(descriptor)
    finally:
        os.close(descriptor)
