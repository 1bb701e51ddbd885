"""Look-ups that a log writes as JSON: lines, documents behind each other, or items of an array."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging import parser
from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items
from transforms.staging.json_records import Item
from transforms.staging.lookup_fields import TABLE
from transforms.staging.parser import FileContext, Parsed, RawRecord, Recognition

Row = dict[str, Any]
Read = Callable[[Item, FileContext], Row | str]
"""Reads one record: the row of `dns_lookups`, or the word for which the record is left out.

Raises RecordError or RefusedError where the record cannot be used.
"""
HEAD_RECORDS = 20
"""Records of a head that are judged: the first may be damaged, or of a kind that is ignored."""


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


def recognise_records(
    head: bytes, judge: Callable[[Row], str | None], list_key: str | None = None
) -> Recognition:
    """Judge a head by its first records: the first that is of the format tells its variant.

    Args:
        head: Beginning of a file.
        judge: The variant that a record is of; none where it is not of the format.
        list_key: Key under which an object may hold a list of records.
    """
    lines = head.lstrip().split(b"\n", HEAD_RECORDS)[:HEAD_RECORDS]
    first = first_value(head)
    records = _listed(first, list_key)
    # Behind a list over many lines stands no other record, but its own lines.
    if records == [first] or _is_whole(lines[0]):
        records += [record for line in lines[1:] for record in _listed(first_value(line), list_key)]
    found = (judge(record) for record in records if isinstance(record, dict))
    variant = next((variant for variant in found if variant is not None), None)
    return Recognition(0) if variant is None else Recognition(3, variant)


def _listed(value: Any, list_key: str | None) -> list[Any]:  # noqa: ANN401  any JSON value
    """The records that a JSON value holds: the first of a list, else itself."""
    if list_key is not None and isinstance(value, dict) and isinstance(value.get(list_key), list):
        value = value[list_key]
    return value[:HEAD_RECORDS] if isinstance(value, list) else [value]


def _is_whole(line: bytes) -> bool:
    """Whether a line is a JSON value, so that the next line holds another."""
    try:
        msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
