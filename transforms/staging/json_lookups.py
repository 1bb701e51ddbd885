"""Look-ups that a log writes as JSON: lines, documents behind each other, or items of an array."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.lookup_fields import TABLE
from transforms.staging.parser import FileContext, Parsed, RawRecord
from transforms.staging.refusal import RefusedError
from transforms.staging.values import identity

Row = dict[str, Any]
Read = Callable[[Item, FileContext], Row | str]
"""Reads one record: the row of `dns_lookups`, or the word for which the record is left out.

Raises RecordError or RefusedError where the record cannot be used.
"""

_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


def parse_lookups(
    records: Iterable[RawRecord], context: FileContext, read: Read, shown: frozenset[bytes]
) -> Iterator[Parsed]:
    """Parse raw records of JSON, in order; an array gives one result per item.

    Args:
        records: Lines, or the one document.
        context: What is known of the file.
        read: Reads one record.
        shown: Keys whose text an excerpt of a refused record may show.
    """
    for raw in records:
        for document in documents(raw):
            yield from _document(document, context, read, shown)


def _document(
    document: Item, context: FileContext, read: Read, shown: frozenset[bytes]
) -> Iterator[Parsed]:
    if document.data.lstrip()[:1] != b"[":
        yield _record(document, context, read, shown)
        return
    try:
        items = decode(_ITEMS, document.data, document.path)
    except RecordError as error:
        yield document.rejected(error, shown)
        return
    for index, data in enumerate(items):
        yield _record(document.part(f"[{index}]", bytes(data)), context, read, shown)


def _record(item: Item, context: FileContext, read: Read, shown: frozenset[bytes]) -> Parsed:
    try:
        found = read(item, context)
    except (RecordError, RefusedError) as error:
        return item.rejected(error, shown)
    if isinstance(found, str):
        return Parsed(item.locator, item.offset, item.data, ignore=found)
    return Parsed(item.locator, item.offset, item.data, rows=((TABLE, found),))


def whole_record_id(item: Item) -> str:
    """Id of a record whose format has none of its own: that of its whole text."""
    return identity(item.data.decode("utf-8", "replace").strip())
