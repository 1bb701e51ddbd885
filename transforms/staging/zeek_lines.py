"""Lines of a Zeek log: text with its header, or JSON; what is the same for every log."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from transforms.staging.json_items import parse_items
from transforms.staging.json_records import Item
from transforms.staging.parser import (
    FileContext,
    Parsed,
    RawRecord,
    Row,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refused
from transforms.staging.values import identity
from transforms.staging.zeek_header import ZeekHeader

_BOM = b"\xef\xbb\xbf"

Found = tuple[Row, ...] | str
"""The rows of a record, or the word for which it is left out."""
Values = Mapping[str, str | None]
"""Values of a line by field, still escaped; unset is none."""


@dataclass(frozen=True)
class ZeekLog:
    """One of Zeek's logs.

    Attributes:
        needed: Fields without which a line of text cannot be read.
        max_line: Characters of a line.
        left_out: The word for which lines under a header are left out; none where they are read.
        of_text: Reads the values of a line, given its header and its id; raises RefusedError.
        of_json: Reads a JSON record; raises RefusedError or RecordError.
        shown: Keys whose text an excerpt of JSON may show.
    """

    needed: tuple[str, ...]
    max_line: int
    left_out: Callable[[ZeekHeader], str | None]
    of_text: Callable[[Values, ZeekHeader, str, FileContext], Found]
    of_json: Callable[[Item, FileContext], Found]
    shown: frozenset[bytes]


def parse_log(records: Iterable[RawRecord], context: FileContext, log: ZeekLog) -> Iterator[Parsed]:
    """Parse the lines of a log, in order; header lines are no records."""
    header = ZeekHeader()
    for raw in records:
        data = raw.data.removeprefix(_BOM)
        if data.startswith(b"#"):
            read = header.read(data[: log.max_line].decode("utf-8", "replace"))
            header = read or header
            if read is None:
                yield ignored(raw, "comment")
        elif data.lstrip()[:1] in {b"{", b"["} and not header_has(header, log.needed):
            yield from parse_items([raw], context, log.of_json, log.shown)
        else:
            yield _line(raw, header, context, log)


def header_has(header: ZeekHeader, needed: Iterable[str]) -> bool:
    """Whether a header names all of some fields."""
    return set(needed).issubset(header.fields)


def _line(raw: RawRecord, header: ZeekHeader, context: FileContext, log: ZeekLog) -> Parsed:
    text = raw.data.decode("utf-8", "replace")
    if len(text) > log.max_line:
        return rejected(raw, f"unreadable_line: expected at most {log.max_line} characters")
    if header.problem is not None:
        return rejected(raw, header.problem)
    word = log.left_out(header)
    if word is not None:
        return ignored(raw, word)
    if not header_has(header, log.needed):
        needed = " and ".join(log.needed)
        return rejected(raw, f"no_fields: expected #fields with {needed} before the line")
    values = header.values(text)
    if isinstance(values, int):
        return rejected(raw, f"field_count: expected {len(header.fields)}, got {values}")
    try:
        found = log.of_text(values, header, identity(" ".join(header.fields), text), context)
    except RefusedError as error:
        return refused(raw, error)
    return ignored(raw, found) if isinstance(found, str) else accepted(raw, *found)
