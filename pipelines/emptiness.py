"""Whether a transform has anything that it can make rows of.

Most clusters export some of what podledger reads, not all of it: what follows from nothing is
known without computing it.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow.parquet as pq

from pipelines.mirror import present
from transforms.transform import Transform


def has_ingredients(
    transform: Transform,
    parts: Mapping[str, Sequence[object]],
    files: Mapping[str, Sequence[tuple[dt.date, Path]]],
) -> bool:
    """Whether any table that a transform makes rows of has a row to read.

    Args:
        transform: The transform; one that names no such tables always has.
        parts: Staging parts by table; each has rows of it.
        files: (day, path) of intermediate and mart files by table.
    """
    if not transform.rows_from:
        return True
    return any(
        parts.get(table) or any(_has_rows(path) for _, path in files.get(table, ()))
        for table in transform.rows_from
    )


def _has_rows(path: Path) -> bool:
    (found,) = present([path])
    status = found.stat()
    return _row_count(found, status.st_ino, status.st_size, status.st_mtime_ns) > 0


@lru_cache(maxsize=100_000)
def _row_count(path: Path, *_written: int) -> int:
    """Rows of a file as it was written."""
    count: int = pq.read_metadata(path).num_rows
    return count
