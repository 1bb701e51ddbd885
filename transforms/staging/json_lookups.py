"""Look-ups that a log writes as JSON: lines, documents behind each other, or items of an array."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from transforms.staging import parser
from transforms.staging.json_items import parse_items
from transforms.staging.json_records import Item
from transforms.staging.lookup_fields import TABLE
from transforms.staging.parser import FileContext, Parsed, RawRecord

Row = dict[str, Any]
Read = Callable[[Item, FileContext], Row | str]
"""Reads one record: the row of `dns_lookups`, or the word for which the record is left out.

Raises RecordError or RefusedError where the record cannot be used.
"""


def parse_lookups(
    records: Iterable[RawRecord],
    context: FileContext,
    read: Read,
    shown: frozenset[bytes],
    list_key: str | None = None,
) -> Iterator[Parsed]:
    """Parse raw records of JSON, in order; an array gives one result per item.

    Args:
        records: Lines, or the one document.
        context: What is known of the file.
        read: Reads one record.
        shown: Keys whose text an excerpt of a refused record may show.
        list_key: Key under which an object may hold a list of records.
    """

    def rows(item: Item, context: FileContext) -> tuple[parser.Row, ...] | str:
        found = read(item, context)
        return found if isinstance(found, str) else ((TABLE, found),)

    yield from parse_items(records, context, rows, shown, list_key)
