"""What a reader of columns gives for a stretch of a file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl
import pyarrow as pa

from transforms.staging.parser import Parsed


@dataclass
class ColumnBatch:
    """What a stretch of records gave.

    Attributes:
        tables: Rows by table, in source order, exactly with the table's Arrow schema; tables
            without rows are left out.
        record_count: Non-blank records in the stretch, refused ones of the reader included.
        accepted_count: Records that gave rows.
        rejects: Refused records by their index in the file, in order.
        ignored: Ignored records by reason.
    """

    tables: dict[str, pa.Table] = field(default_factory=dict)
    record_count: int = 0
    accepted_count: int = 0
    rejects: list[tuple[int, Parsed]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)


UNFIT = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pa.ArrowException)
"""What is raised where a column is made of values that it cannot hold."""


class Judge(Protocol):
    """Says what tables can hold."""

    def holds(self, name: str, rows: pa.Table) -> bool:
        """Whether rows are as the model of their table asks."""

    def judged(self, records: Sequence[tuple[int, Parsed]]) -> list[tuple[int, Parsed]]:
        """Records in order, of which those with values that no table can hold are refused."""
