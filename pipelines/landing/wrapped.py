"""Take wrappers off the records of a file, between the reader and the parser.

What comes to nothing on the way (a piece of a line, a torn wrapper) is a result like those of the
parser, and stands among them in source order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pipelines.landing.parquet_rows import is_parquet
from pipelines.landing.readers import head
from transforms.staging.parser import Parsed, Parser, RawRecord, Shape
from transforms.staging.wrapped_files import Wrapping, is_document, take_off, wrapping_for

HELD_WHOLE = 1_000
"""Results that are held with the place where they break, until the parser gives its next one."""
HELD_BYTES = 256
"""Text of each result behind those."""


def wrapping_of(path: Path, parser: Parser) -> Wrapping | None:
    """The wrappers to take off before a parser reads a file; none where it reads it as it is."""
    return None if is_parquet(path) else wrapping_for(parser, head(path))


def shape_of(path: Path) -> Shape:
    """How a file of wrapped records is cut: it may be one document, or a record a line."""
    beginning = head(path)
    return "lines" if b"\n" in beginning.strip() and not is_document(beginning) else "json"


def inner_records(
    records: Iterable[RawRecord], wrapping: Wrapping, parser: Parser, results: list[Parsed]
) -> Iterator[RawRecord]:
    """The records in wrappers; what comes to nothing on the way is added to the results."""
    for item in take_off(records, wrapping, parser.recognise):
        if isinstance(item, RawRecord):
            yield item
        elif len(results) < HELD_WHOLE:
            results.append(item)
        else:
            shown = bytes(item.raw[:HELD_BYTES])
            results.append(replace(item, data=shown, find_place=None, conceal=None))
