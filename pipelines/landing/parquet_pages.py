"""What the pages of a Parquet column say of their size, before anything is decoded.

Source: the Parquet format's `parquet.thrift`. Only the headers are read: sizes, numbers of values
and the encoding.
"""

from dataclasses import dataclass
from typing import Any, BinaryIO

from pipelines.landing.parquet_footer import Chunk
from pipelines.landing.thrift import Fields, ShortError, ThriftError, ThriftReader

MAX_HEADER = 1 << 20
"""Bytes of a page header, which may hold the smallest and the largest value."""

_WINDOW = 1 << 10
_MAX_ITEMS = 1_000
_DICTIONARY_PAGE = 2
_DELTA_BYTE_ARRAY = 7


@dataclass
class ColumnPages:
    """What the pages of one column of a row group hold.

    Attributes:
        decoded_bytes: Bytes of all pages after decompression.
        largest_page: Bytes of the largest of them.
        value_count: Values and nulls in the data pages.
        has_dictionary: Whether values stand in a page of their own, and data pages point there.
        shares_prefixes: Whether texts are written as what they add to the one before.
    """

    decoded_bytes: int = 0
    largest_page: int = 0
    value_count: int = 0
    has_dictionary: bool = False
    shares_prefixes: bool = False


def column_pages(file: BinaryIO, chunk: Chunk) -> ColumnPages:
    """Walk the page headers of a column of a row group.

    Raises:
        ThriftError: A header is damaged, or the pages do not end where the footer says.
    """
    found = ColumnPages()
    place, end = chunk.start, chunk.start + chunk.stored_bytes
    while place < end:
        header, length = _header(file, place, end)
        stored, decoded = header.get(3), header.get(2)
        if not isinstance(stored, int) or not isinstance(decoded, int) or min(stored, decoded) < 0:
            message = "a page header without sizes"
            raise ThriftError(message)
        place += length + stored
        found.decoded_bytes += decoded
        found.largest_page = max(found.largest_page, decoded)
        if header.get(1) == _DICTIONARY_PAGE:
            found.has_dictionary = True
        else:
            _note_data_page(header, found)
    if place != end:
        message = "pages that end elsewhere than the footer says"
        raise ThriftError(message)
    return found


def _note_data_page(header: Fields, found: ColumnPages) -> None:
    first, second = header.get(5), header.get(8)
    about: Any = first or second
    count = about.get(1) if isinstance(about, dict) else None
    if not isinstance(count, int) or count < 0:
        message = "a data page without a number of values"
        raise ThriftError(message)
    found.value_count += count
    encoding = about.get(2) if first else about.get(4)
    found.shares_prefixes |= encoding == _DELTA_BYTE_ARRAY


def _header(file: BinaryIO, place: int, end: int) -> tuple[Fields, int]:
    """A page header's fields by number, and its length."""
    size = _WINDOW
    while True:
        file.seek(place)
        window = file.read(min(size, end - place))
        reader = ThriftReader(window, _MAX_ITEMS)
        try:
            return reader.struct(), reader.place
        except ShortError:
            if len(window) < size or size >= MAX_HEADER:
                message = "no page header"
                raise ThriftError(message) from None
            size *= 32
