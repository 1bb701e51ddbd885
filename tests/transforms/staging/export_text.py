"""Cut texts into raw records as readers do, parse them, and check what every parser must keep."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import strategies as st

from pipelines.landing.readers import raw_records
from schemas.registry import table_spec
from transforms.redaction import KeyedHash
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord

KEY = KeyedHash(b"a key for tests")
CONTEXT = FileContext(
    export="test-export",
    path="exports/file",
    cluster="alder",
    node=None,
    project=None,
    region=None,
    landing_date=date(2026, 3, 10),
    path_at=None,
    record_format=None,
    temporality=None,
    key_hash=KEY,
)


CUTS = st.lists(
    st.tuples(st.integers(0, 900), st.integers(0, 4), st.binary(max_size=3)), min_size=1, max_size=4
)
"""Damage: place, number of bytes taken out, bytes put in."""


def damaged(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    """A line with damage, which is still one line."""
    for start, length, inserted in cuts:
        place = start % (len(data) + 1)
        data = data[:place] + inserted.replace(b"\n", b"") + data[place + length :]
    return data


def check_others(found: list[Parsed], clean: list[Parsed], at: int) -> None:
    """Check that all records but one gave what they gave before that one was damaged."""
    check_each(found)
    check_rows(found)
    assert [record.locator for record in found] == [record.locator for record in clean]
    assert [record.rows for index, record in enumerate(found) if index != at] == [
        record.rows for index, record in enumerate(clean) if index != at
    ]


def lines(text: str | bytes) -> list[RawRecord]:
    """The non-blank lines of a text."""
    data = text.encode() if isinstance(text, str) else text
    found, offset = [], 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            found.append(RawRecord(f"line {number}", offset, line.rstrip(b"\r")))
        offset += len(line) + 1
    return found


def parse(
    parser: Parser, records: Iterable[RawRecord] | str | bytes, **changes: Any
) -> list[Parsed]:
    """Parse raw records, or the lines of a text, in a context with some values changed."""
    raw = lines(records) if isinstance(records, str | bytes) else records
    return list(parser.parse(raw, replace(CONTEXT, **changes)))


def parse_file(parser: Parser, path: Path, **changes: Any) -> list[Parsed]:
    """Parse a file, cut as landing cuts it."""
    records = (item for item in raw_records(path, parser.shape) if isinstance(item, RawRecord))
    return parse(parser, records, **changes)


def rows(parsed: Iterable[Parsed], table: str) -> list[dict[str, Any]]:
    """Rows of one table, in order."""
    return [values for record in parsed for name, values in record.rows if name == table]


def word(parsed: Parsed) -> str:
    """What became of a record: `accepted`, or the word of its reason."""
    reason = parsed.reject or parsed.ignore
    return reason.partition(":")[0] if reason else "accepted"


def words(parsed: Iterable[Parsed]) -> Counter[str]:
    """How many records met which fate."""
    return Counter(word(record) for record in parsed)


def stated(values: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    """The values that a row states, without some columns."""
    return {k: v for k, v in values.items() if v is not None and k not in left_out}


def check_each(parsed: Iterable[Parsed]) -> None:
    """Check of every record that exactly one of rows, reject and ignore says what it is."""
    for record in parsed:
        fates = (bool(record.rows), record.reject is not None, record.ignore is not None)
        assert sum(fates) == 1, record
        assert record.reject is None or ": expected" in record.reject, record.reject
        assert record.reject is None or len(record.reject) < 200, record.reject
        assert record.ignore is None or " " not in record.ignore, record.ignore


def check_rows(parsed: Iterable[Parsed]) -> None:
    """Check that the rows fit their tables: columns, types, nulls, allowed values."""
    by_table: dict[str, list[dict[str, Any]]] = {}
    for index, record in enumerate(parsed):
        for table, values in record.rows:
            provenance = {
                "export_file_id": "file",
                "record_index": index,
                "row_index": 0,
                "source_format": "format",
                "cluster": "alder",
            }
            by_table.setdefault(table, []).append(provenance | values)
    for table, found in by_table.items():
        spec = table_spec(table)
        for row in found:
            assert set(row) <= set(spec.polars_schema), set(row) - set(spec.polars_schema)
        frame = pl.DataFrame(
            {
                name: pl.Series(name, [row.get(name) for row in found], dtype=dtype, strict=True)
                for name, dtype in spec.polars_schema.items()
            }
        )
        spec.model.validate(frame)


def written(parsed: Iterable[Parsed]) -> str:
    """Everything of the records that may be stored as it is; excerpts are redacted by landing."""
    return repr([(record.rows, record.reject, record.ignore) for record in parsed])
