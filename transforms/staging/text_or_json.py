"""Records of servers that log lines of text or objects of JSON, whichever they are told to."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from transforms.staging import request_fields as f
from transforms.staging.json_items import parse_items
from transforms.staging.json_records import Item
from transforms.staging.parser import (
    FileContext,
    Parsed,
    RawRecord,
    Row,
    Wrapper,
    accepted,
    ignored,
    rejected,
)
from transforms.staging.refusal import RefusedError, refused

MAX_LINE = 1 << 16

ReadItem = Callable[[Wrapper | None, Item, FileContext], tuple[Row, ...] | str]
"""Rows of an object, or the word for which it is left out."""
ReadLine = Callable[[str, Wrapper | None, FileContext], tuple[Row, ...] | str]
"""Rows of a line, or the word for which it is left out."""


def parse_text_or_json(
    records: Iterable[RawRecord],
    context: FileContext,
    read_item: ReadItem,
    read_line: ReadLine,
    shown_keys: frozenset[bytes],
) -> Iterator[Parsed]:
    """Parse lines, some of which may be JSON; queries of URLs are never shown of refused ones.

    Args:
        records: Records as read.
        context: What is known of the file.
        read_item: Reads an object of JSON.
        read_line: Reads a line of text.
        shown_keys: Keys of a refused object whose text an excerpt may show.
    """
    for raw in records:
        if raw.data.lstrip()[:1] in {b"{", b"["}:
            yield from parse_items([raw], context, partial(read_item, raw.wrapper), shown_keys)
        elif len(raw.data) > MAX_LINE:
            yield rejected(raw, f"unreadable_line: expected at most {MAX_LINE} bytes")
        else:
            yield _line(raw, context, read_line)


def _line(raw: RawRecord, context: FileContext, read_line: ReadLine) -> Parsed:
    try:
        found = read_line(raw.data.decode("utf-8", "replace"), raw.wrapper, context)
    except RefusedError as error:
        return f.without_queries(refused(raw, error))
    return ignored(raw, found) if isinstance(found, str) else accepted(raw, *found)
