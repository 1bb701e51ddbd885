"""Say which file of the lake is missing or damaged, where an engine only says that it cannot read.

Engines name a file in some of their errors and not in others. When one of them fails, the files
that it was given are checked here, against the digest that each file carries of itself.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import LakeDamagedError, LakeOutdatedError
from pipelines.mirror import is_stand_in, shown, url_of
from pipelines.parquet import outdated_columns
from pipelines.publication import CONTENT
from schemas.registry import table_spec, tables

REBUILD = "remove it and build its day again"
"""What to do about an intermediate or mart file."""
REMEDY = (
    "restore it; or remove an intermediate or mart file and build its day again, or the commit of "
    "a part below export_files to land its exports again"
)
"""The same where it may be any file."""
_BLOCK = 1 << 20
_LENGTH_AND_MAGIC = 8
"""Bytes behind the footer of a Parquet file: its length and `PAR1`."""


@contextmanager
def reading(paths: Iterable[Path], remedy: str) -> Iterator[None]:
    """Run a block that reads files of the lake; if it fails because of one, name that file.

    Args:
        paths: The files.
        remedy: What a person can do about it.

    Raises:
        LakeDamagedError: A file is missing or damaged.
        LakeOutdatedError: Files have columns of other types: another version wrote them.
    """
    try:
        yield
    except (duckdb.Error, pl.exceptions.PolarsError, pa.ArrowException, OSError):
        read = list(paths)
        for path in read:
            found = damage_of(path)
            if found is not None:
                message = f"{shown(path)}: {found}; {remedy}"
                raise LakeDamagedError(message) from None
        outdated = _outdated(read)
        if outdated is not None:
            raise outdated from None
        raise


def _outdated(paths: Iterable[Path]) -> LakeOutdatedError | None:
    """What to rebuild of files whose columns have other types than now."""
    found: dict[tuple[str, str], list[date]] = {}
    for path in paths:
        table = path.parent.parent.name
        if table in tables() and path.is_file() and not is_stand_in(path):
            for column in outdated_columns(path, table_spec(table)):
                day = date.fromisoformat(path.parent.name.removeprefix("date="))
                found.setdefault((table, column), []).append(day)
    if not found:
        return None
    lines = []
    for (table, column), days in sorted(found.items()):
        is_staged = table_spec(table).layer in {"ledger", "staging"}
        what = "landing" if is_staged else "event"
        lines.append(f"{table}, {what} days {min(days)} to {max(days)}: {column}")
    message = (
        "files of the lake were written by another version and cannot be read as they are; "
        "`podledger build --stale` builds them again:\n  " + "\n  ".join(lines)
    )
    return LakeOutdatedError(message, frozenset(d for days in found.values() for d in days))


def damage_of(path: Path) -> str | None:
    """What is wrong with a file of the lake; none if it is whole."""
    if not path.is_file():
        return "missing"
    if url_of(path) is not None and is_stand_in(path):
        return None
    try:
        wanted = (pq.read_metadata(path).metadata or {}).get(CONTENT, b"")
        found = _digest(path)
    except (OSError, pa.ArrowException):
        return "damaged (no whole Parquet file)"
    if wanted.partition(b"-")[0] != found:
        return "damaged (its pages do not have the digest in its footer)"
    return None


def _digest(path: Path) -> bytes:
    """Digest of what stands in front of the footer."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        end = file.seek(-_LENGTH_AND_MAGIC, 2)
        left = end - int.from_bytes(file.read(4), "little")
        file.seek(0)
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            digest.update(block)
            left -= len(block)
    return digest.hexdigest().encode()
