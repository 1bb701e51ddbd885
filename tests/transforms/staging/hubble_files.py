"""Read a text of Hubble lines by lines and by columns, for comparing the two."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from schemas.registry import table_spec
from tests.transforms.staging.export_text import CONTEXT, lines
from transforms.sql import SqlSession
from transforms.staging import hubble_columns
from transforms.staging.column_batch import ColumnBatch
from transforms.staging.hubble import PARSER
from transforms.staging.hubble_columns import TextFile, parse_columns
from transforms.staging.line_blocks import TextBlock
from transforms.staging.parser import FileContext, Parsed

FILE_ID = "0123456789abcdef0123456789abcdef"


@dataclass
class Given:
    """What a file gave, in the order of its records."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    record_count: int = 0
    accepted_count: int = 0
    rejects: list[tuple[int, Parsed]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)


class Scratch:
    """A file of the test in place of memory."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.filled: list[bytes] = []

    def fill(self, parts: Iterable[bytes]) -> None:
        text = b"".join(parts)
        self.filled.append(text)
        Path(self.path).write_bytes(text)


def by_lines(text: bytes, context: FileContext = CONTEXT) -> Given:
    """What the line reader gives, as landing would store it."""
    given = Given()
    found: dict[str, list[dict[str, Any]]] = {}
    for index, parsed in enumerate(PARSER.parse(lines(text), context)):
        given.record_count += 1
        if parsed.reject is not None:
            given.rejects.append((index, parsed))
        elif parsed.ignore is not None:
            given.ignored[parsed.ignore] += 1
        else:
            given.accepted_count += 1
            ordinals: Counter[str] = Counter()
            for table, values in parsed.rows:
                row = {
                    "export_file_id": FILE_ID,
                    "record_index": index,
                    "row_index": ordinals[table],
                    "source_format": "hubble",
                    "cluster": context.cluster,
                    **values,
                }
                ordinals[table] += 1
                found.setdefault(table, []).append(row)
    given.tables = {table: _frame(table, rows) for table, rows in found.items()}
    return given


def _frame(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = table_spec(table).polars_schema
    return pl.DataFrame(
        {name: pl.Series(name, [r.get(name) for r in rows], dtype=t) for name, t in schema.items()}
    )


def blocks(text: bytes, size: int = 1 << 20) -> Iterator[TextBlock]:
    """The text in blocks of whole lines of about that size."""
    start, number = 0, 1
    while start < len(text):
        end = text.rfind(b"\n", start, start + size) + 1
        if end <= start:
            end = text.find(b"\n", start) + 1 or len(text)
        data = text[start:end]
        count = data.count(b"\n") + (not data.endswith(b"\n"))
        yield TextBlock(number, count, start, data)
        start, number = end, number + count


def by_columns(
    text: bytes,
    folder: Path,
    session: SqlSession,
    *,
    size: int = 1 << 20,
    with_scratch: bool = True,
    context: FileContext = CONTEXT,
) -> Given:
    """What the reader of columns gives for a plain file."""
    path = folder / "events.log"
    path.write_bytes(text)
    return collect(
        parse_columns(
            TextFile(str(path), "none"),
            blocks(text, size),
            context,
            session,
            export_file_id=FILE_ID,
            scratch=Scratch(folder / "scratch") if with_scratch else None,
        )
    )


def collect(batches: Iterable[ColumnBatch]) -> Given:
    """Put batches together; each must account for its records and fit the tables."""
    given = Given()
    frames: dict[str, list[pl.DataFrame]] = {}
    for batch in batches:
        assert batch.record_count == (
            batch.accepted_count + len(batch.rejects) + batch.ignored.total()
        )
        given.record_count += batch.record_count
        given.accepted_count += batch.accepted_count
        given.rejects += batch.rejects
        given.ignored += batch.ignored
        for table, rows in batch.tables.items():
            assert rows.num_rows
            assert rows.schema.equals(table_spec(table).arrow_schema)
            rows.validate(full=True)
            frames.setdefault(table, []).append(pl.DataFrame(rows))
    given.tables = {table: pl.concat(each) for table, each in frames.items()}
    return given


def check_equal(found: Given, expected: Given) -> None:
    """Check that two readings agree, record for record and row for row."""
    assert found.record_count == expected.record_count
    assert found.accepted_count == expected.accepted_count
    assert found.ignored == expected.ignored
    assert found.rejects == expected.rejects
    assert found.tables.keys() == expected.tables.keys()
    for table, rows in expected.tables.items():
        for name in rows.columns:
            assert found.tables[table][name].to_list() == rows[name].to_list(), (table, name)


class LineReads:
    """Counts the records that the reader of columns leaves to the line reader."""

    def __init__(self, monkeypatch) -> None:
        self.locators: list[str] = []
        parse_line = hubble_columns.parse_line

        def counted(raw, context, lineage):
            self.locators.append(raw.locator)
            return parse_line(raw, context, lineage)

        monkeypatch.setattr(hubble_columns, "parse_line", counted)
