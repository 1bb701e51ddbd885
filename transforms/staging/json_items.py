"""Records that a log writes as JSON: lines, documents behind each other, or items of a list."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.parser import FileContext, Parsed, RawRecord, Row
from transforms.staging.refusal import RefusedError
from transforms.staging.values import identity

Read = Callable[[Item, FileContext], tuple[Row, ...] | str]
"""Reads one record: its rows, or the word for which the record is left out.

Raises RecordError or RefusedError where the record cannot be used.
"""

_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


def parse_items(
    records: Iterable[RawRecord],
    context: FileContext,
    read: Read,
    shown: frozenset[bytes],
    list_key: str | None = None,
) -> Iterator[Parsed]:
    """Parse raw records of JSON, in order; a list gives one result per item.

    Args:
        records: Lines, or the one document.
        context: What is known of the file.
        read: Reads one record.
        shown: Keys whose text an excerpt of a refused record may show.
        list_key: Key under which an object may hold a list of records, such as `Records`.
    """
    for raw in records:
        for document in documents(raw):
            yield from _document(document, context, read, shown, list_key)


def _document(
    document: Item,
    context: FileContext,
    read: Read,
    shown: frozenset[bytes],
    list_key: str | None,
) -> Iterator[Parsed]:
    try:
        found = _list(document, list_key)
        items = None if found is None else decode(_ITEMS, found[1], f"{document.path}{found[0]}")
    except RecordError as error:
        yield document.rejected(error, shown)
        return
    if found is None or items is None:
        yield _record(document, context, read, shown)
        return
    for index, data in enumerate(items):
        part = document.part(f"{found[0]}[{index}]", bytes(data))
        yield _record(part, context, read, shown)


def _list(document: Item, list_key: str | None) -> tuple[str, bytes] | None:
    """Path step and bytes of the list that a document holds; none where it is one record."""
    if document.data.lstrip()[:1] == b"[":
        return "", document.data
    if list_key is None:
        return None
    data = bytes(getattr(decode(_holder(list_key), document.data, document.path), list_key))
    return (f".{list_key}", data) if data else None


@lru_cache(maxsize=16)
def _holder(list_key: str) -> "msgspec.json.Decoder[Any]":
    """Decoder of an object of which only the value under one key is looked at."""
    field = (list_key, msgspec.Raw, msgspec.field(default=msgspec.Raw()))
    return msgspec.json.Decoder(msgspec.defstruct("Holder", [field]))


def _record(item: Item, context: FileContext, read: Read, shown: frozenset[bytes]) -> Parsed:
    try:
        found = read(item, context)
    except (RecordError, RefusedError) as error:
        return item.rejected(error, shown)
    if isinstance(found, str):
        return Parsed(item.locator, item.offset, item.data, ignore=found)
    return Parsed(item.locator, item.offset, item.data, rows=found)


def whole_record_id(item: Item) -> str:
    """Id of a record whose format has none of its own: that of its whole text.

    Blanks between its values are no part of it, as they tell how a file is laid out.
    """
    text = msgspec.json.format(item.data, indent=-1)
    return identity(text.decode("utf-8", "replace"))
