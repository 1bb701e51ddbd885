"""`podledger show TABLE --by COLUMN,…`: rows of a table summed up, as its schema says they add.

Only columns that add up are summed. A best value stands only if every row has one; what is certain
is the sum of what is known, what is possible is open where one row's is. Rows of some tables add up
within one kind alone (TableSpec.adds_within): they are summed apart by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from pipelines.errors import PodledgerError
from schemas.table import Column, TableSpec

ENDINGS = ("", "_id", "_uuid")
"""`--by dataset` means dataset_id, `--by run` means run_uuid."""


@dataclass(frozen=True)
class Condition:
    """What rows are summed.

    Attributes:
        where: SQL with bound names, or nothing.
        bound: Values by name.
    """

    where: str
    bound: Mapping[str, Any]


def column_of(name: str, there: Sequence[str], table: str) -> str:
    """The column that a name means.

    Raises:
        PodledgerError: There is no such column; the message names those that there are.
    """
    plain = name.strip().replace("-", "_")
    for ending in ENDINGS:
        if plain + ending in there:
            return plain + ending
    message = f"{table} has no column(s) {name.strip()}; it has: {', '.join(there)}"
    raise PodledgerError(message)


def summed(
    connection: duckdb.DuckDBPyConnection,
    spec: TableSpec,
    by: str,
    condition: Condition,
    limit: int,
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Sum a table's rows by columns.

    Args:
        connection: What shows the table.
        spec: The table.
        by: Columns, separated by commas.
        condition: Which rows.
        limit: Groups at most.

    Returns:
        Names and rows: the columns, `row_count`, the sums, and of each sum that leaves out rows
        without a value how many they are (`…_unknown_count`). What costs or counts most comes
        first.

    Raises:
        PodledgerError: A column is unknown, or cannot be summed by.
    """
    columns, known = _columns(connection, spec, by), {c.name: c for c in spec.columns}
    measures = [c for c in spec.columns if c.adds_up and c.name not in columns]
    groups = ", ".join(f'"{name}"' for name in columns)
    sums = [f'{_sum(c, known)} AS "{c.name}"' for c in measures]
    unknown = [c.name for c in measures if c.nullable and not _is_strict(c, known)]
    counts = [f'COUNT(*) - COUNT("{n}") AS "{n}_unknown_count"' for n in unknown]
    listed = ", ".join([groups, "COUNT(*) AS row_count", *sums, *counts])
    order = ", ".join([*_order(measures), *(f'"{name}" NULLS LAST' for name in columns)])
    relation = connection.execute(
        f'SELECT {listed} FROM "{spec.name}"{condition.where} '  # noqa: S608  names of our schema
        f"GROUP BY {groups} ORDER BY {order} LIMIT $limit",
        {**condition.bound, "limit": limit},
    )
    names = [d[0] for d in relation.description]
    rows = relation.fetchall()
    # Counts of what is unknown stand only where something is.
    kept = [
        i
        for i, name in enumerate(names)
        if not name.endswith("_unknown_count")
        or any(0 < row[i] < row[len(columns)] for row in rows)
    ]
    return [names[i] for i in kept], [tuple(row[i] for i in kept) for row in rows]


def _columns(connection: duckdb.DuckDBPyConnection, spec: TableSpec, by: str) -> list[str]:
    """The columns that rows are summed by."""
    there = list(connection.table(spec.name).columns)
    columns = list(dict.fromkeys(column_of(name, there, spec.name) for name in by.split(",")))
    known = {c.name: c for c in spec.columns}
    for name in columns:
        if name in known and isinstance(known[name].dtype, pl.List | pl.Struct | pl.Float64):
            message = f"--by {name}: expected a column of single values, not of lists or measures"
            raise PodledgerError(message)
    columns.extend(name for name in spec.adds_within if name not in columns)
    return columns


def group_count(
    connection: duckdb.DuckDBPyConnection, spec: TableSpec, by: str, condition: Condition
) -> int:
    """How many rows `summed` gives without a limit; arguments and errors as there."""
    groups = ", ".join(f'"{name}"' for name in _columns(connection, spec, by))
    found = connection.execute(
        f'SELECT COUNT(*) FROM (SELECT {groups} FROM "{spec.name}"{condition.where} '  # noqa: S608
        f"GROUP BY {groups})",
        condition.bound,
    )
    return int(found.fetchall()[0][0])


def for_people(
    names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The same for a terminal: `unknown` for a best value between known ends, no empty columns."""
    ends = {i: [names.index(f"{end}_{name}") for end in ("min", "max") if f"{end}_{name}" in names]
            for i, name in enumerate(names)}  # fmt: skip
    kept = [
        i
        for i in range(len(names))
        if not rows or any(row[j] is not None for row in rows for j in (i, *ends[i]))
    ]
    shown = [
        tuple(
            UNKNOWN if row[i] is None and any(row[end] is not None for end in ends[i]) else row[i]
            for i in kept
        )
        for row in rows
    ]
    return [names[i] for i in kept], shown


class _Unknown:
    """A number that is not known, as a cell of a table shows it."""

    def __str__(self) -> str:
        """The word."""
        return "unknown"


UNKNOWN = _Unknown()


def _is_strict(column: Column, known: Mapping[str, Column]) -> bool:
    """Whether one row without a value makes the sum unknown: the best and the most of a range."""
    name = column.name
    is_best = f"min_{name}" in known and f"max_{name}" in known
    return is_best or name.startswith("max_")


def _sum(column: Column, known: Mapping[str, Column]) -> str:
    name = f'"{column.name}"'
    value = name
    if column.dtype == pl.Float64():
        # Sums of floats depend on the order: seconds are summed as whole microseconds.
        value = f"CAST(ROUND({name} * 1000000) AS HUGEINT)"
    total = f"SUM({value})"
    if column.dtype == pl.Float64():
        total = f"{total} / 1000000"
    if column.nullable and _is_strict(column, known):
        return f"CASE WHEN COUNT({name}) = COUNT(*) THEN {total} END"
    return total


def _order(measures: Sequence[Column]) -> list[str]:
    """Money first, else bytes, else counts: the most possible, largest first."""
    for unit in ("USD", "bytes", "count"):
        of_unit = [c.name for c in measures if c.unit == unit]
        if of_unit:
            most = next((name for name in of_unit if name.startswith("max_")), of_unit[0])
            return [f'"{most}" DESC NULLS FIRST']
    return ["row_count DESC"]
