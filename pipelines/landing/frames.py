"""Rows of parsed records as checked frames, one per table.

Columns are put together column by column. Instants, and columns of lists and structures, are built
by Arrow, which takes a fortieth of the time that Polars takes to find out what Python objects are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pyarrow as pa

from pipelines.errors import DataCheckError
from pipelines.publication import check, check_table
from schemas.registry import table_spec
from schemas.table import TableSpec
from transforms.redaction import redact
from transforms.staging.parser import Parsed

NOT_REPRESENTABLE = (
    TypeError,
    ValueError,
    OverflowError,
    pl.exceptions.PolarsError,
    pa.ArrowException,
    DataCheckError,
)
"""What is raised for values that no table can hold."""
_SHOWN = 200
"""Characters of the reason for which a table cannot hold a record."""


@dataclass(frozen=True)
class Provenance:
    """What all rows of a file say.

    Attributes:
        export_file_id: Id of the file.
        source_format: Its format.
        cluster: Its cluster, none for the fleet.
    """

    export_file_id: str
    source_format: str
    cluster: str | None


@dataclass(slots=True)
class _Rows:
    record_indexes: list[int] = field(default_factory=list)
    row_indexes: list[int] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)


def checked_frames(
    records: Iterable[tuple[int, Parsed]], provenance: Provenance
) -> dict[str, pl.DataFrame]:
    """Rows of the records as checked frames, by table, in order.

    Args:
        records: Accepted records with their ordinals in the file.
        provenance: What all rows say.

    Raises:
        NOT_REPRESENTABLE: A value does not fit its column.
        AssertionError: A parser filled a column that the table has not.
    """
    tables: dict[str, _Rows] = {}
    for index, parsed in records:
        for table, values in parsed.rows:
            rows = tables.get(table)
            if rows is None:
                rows = tables[table] = _Rows()
            is_another = rows.record_indexes[-1:] == [index]
            rows.row_indexes.append(rows.row_indexes[-1] + 1 if is_another else 0)
            rows.record_indexes.append(index)
            rows.values.append(values)
    return {table: _frame(table_spec(table), rows, provenance) for table, rows in tables.items()}


def representable(
    pending: Sequence[tuple[int, Parsed]], provenance: Provenance
) -> tuple[list[tuple[int, Parsed]], list[tuple[int, Parsed, str]]]:
    """Part the records whose values a table can hold from the others, which get a reason.

    Halves are tried, so that one such record among thousands costs little.
    """
    try:
        checked_frames(pending, provenance)
    except NOT_REPRESENTABLE as error:
        if len(pending) == 1:
            ((index, parsed),) = pending
            return [], [(index, parsed, f"not_representable: {redact(str(error))[:_SHOWN]}")]
    else:
        return list(pending), []
    middle = len(pending) // 2
    good, refused = representable(pending[:middle], provenance)
    more_good, more_refused = representable(pending[middle:], provenance)
    return good + more_good, refused + more_refused


class TableJudge:
    """Says of rows read by columns whether tables can hold them; see `column_batch.Judge`."""

    def __init__(self, provenance: Provenance) -> None:
        """Take what all rows of the file say."""
        self._provenance = provenance

    def holds(self, name: str, rows: pa.Table) -> bool:
        """Whether rows are as the model of their table asks."""
        try:
            check_table(table_spec(name), rows)
        except DataCheckError:
            return False
        return True

    def judged(self, records: Sequence[tuple[int, Parsed]]) -> list[tuple[int, Parsed]]:
        """Records in order, of which those with values that no table can hold are refused."""
        pending = [(index, parsed) for index, parsed in records if parsed.rows]
        _, refused = representable(pending, self._provenance)
        reasons = {index: reason for index, _, reason in refused}
        return [
            (index, replace(parsed, rows=(), reject=reasons[index]) if index in reasons else parsed)
            for index, parsed in records
        ]


def _frame(spec: TableSpec, rows: _Rows, provenance: Provenance) -> pl.DataFrame:
    known = spec.polars_schema.keys() - {"record_index", "row_index"}
    unknown = {name for values in rows.values if not values.keys() <= known for name in values}
    if unknown - known:
        message = f"{spec.name}: the parser filled unknown column(s) {sorted(unknown - known)}"
        raise AssertionError(message)
    given: dict[str, list[Any]] = {
        "record_index": rows.record_indexes,
        "row_index": rows.row_indexes,
    }
    default = vars(provenance)
    frame = pl.DataFrame(
        [
            _series(
                spec,
                name,
                given.get(name) or [v.get(name, default.get(name)) for v in rows.values],
            )
            for name in spec.polars_schema
        ]
    )
    check(spec, frame)
    return frame


def _series(spec: TableSpec, name: str, values: list[Any]) -> pl.Series:
    dtype = spec.polars_schema[name]
    if isinstance(dtype, pl.Datetime | pl.List | pl.Struct):
        return pl.Series(name, pa.array(values, spec.arrow_schema.field(name).type))
    return pl.Series(name, values, dtype=dtype, strict=True)
