"""What a reader of columns gives for a stretch of a file."""

from collections import Counter
from dataclasses import dataclass, field

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
