"""Read everything that was written, in decoded form, and search it."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq

from tests.canaries.planter import Canary


def texts_of(path: Path) -> Iterator[str]:
    """What one file holds: its bytes, and the cells of a table file, nested ones too."""
    yield path.read_bytes().decode("utf-8", "replace")
    if path.read_bytes()[:2] == b"\x1f\x8b":
        yield zlib.decompressobj(31).decompress(path.read_bytes()).decode("utf-8", "replace")
    if path.suffix == ".parquet":
        yield json.dumps(pq.read_table(path).to_pylist(), default=str, ensure_ascii=False)
    elif path.suffix == ".duckdb":
        yield from _catalogue(path)
    elif path.read_bytes()[:15] == b"SQLite format 3":
        yield from _sqlite(path)


def _catalogue(path: Path) -> Iterator[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        for (name,) in connection.execute("SHOW TABLES").fetchall():
            rows = connection.execute(f'FROM "{name}"').fetchall()
            yield json.dumps(rows, default=str, ensure_ascii=False)


def _sqlite(path: Path) -> Iterator[str]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            rows = connection.execute(f'SELECT * FROM "{name}"').fetchall()
            yield json.dumps(rows, default=str, ensure_ascii=False)


def everything_below(folder: Path) -> dict[str, str]:
    """Path and text of every file below a folder, in lower case, by relative path."""
    return {
        (name := path.relative_to(folder).as_posix()): "\n".join((name, *texts_of(path))).lower()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def leaks(canaries: Iterable[Canary], written: dict[str, str]) -> list[str]:
    """Which secrets stand where; never the secrets themselves."""
    by_piece: dict[str, list[Canary]] = {}
    for canary in canaries:
        for piece in canary.pieces:
            by_piece.setdefault(piece, []).append(canary)
    found = pl.Series(list(written.values()), dtype=pl.String).str.extract_many(
        list(by_piece), overlapping=True
    )
    return sorted(
        {
            f"{canary} stands in {name}"
            for name, pieces in zip(written, found.to_list(), strict=True)
            for piece in pieces
            for canary in by_piece[piece]
        }
    )
