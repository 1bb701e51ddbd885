"""The data dictionary: every table and column in words, from the models alone."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from schemas.registry import table_spec, tables
from schemas.table import Column, TableSpec
from schemas.views import views


def as_records(names: Sequence[str]) -> list[dict[str, Any]]:
    """Tables and columns as plain values, for scripts."""
    return [
        {
            "table": spec.name,
            "layer": spec.layer,
            "grain": spec.grain,
            "key": list(spec.key),
            "order": list(spec.order),
            "as_of": spec.as_of,
            "adds_within": list(spec.adds_within),
            "columns": [
                {
                    "name": c.name,
                    "type": type_name(c.dtype),
                    "nullable": c.nullable,
                    "null_meaning": c.null_meaning or None,
                    "unit": c.unit or None,
                    "adds_up": c.adds_up,
                    "allowed": list(c.allowed) or None,
                    "description": c.description,
                }
                for c in spec.columns
            ],
        }
        for spec in map(_spec, names)
    ]


def as_markdown(names: Sequence[str]) -> str:
    """Tables and columns as Markdown, one heading per table."""
    return "\n".join(_table(_spec(name)) for name in names)


def described() -> list[str]:
    """Names of all tables and views."""
    return [*tables(), *views()]


def _spec(name: str) -> TableSpec:
    return views().get(name) or table_spec(name)


def type_name(dtype: pl.DataType) -> str:
    """A type as DuckDB's users know it.

    >>> type_name(pl.List(pl.String()))
    'VARCHAR[]'
    """
    if isinstance(dtype, pl.List):
        inner = dtype.inner
        return f"{type_name(inner if isinstance(inner, pl.DataType) else inner())}[]"
    if isinstance(dtype, pl.Struct):
        fields = ", ".join(
            f"{f.name} {type_name(f.dtype if isinstance(f.dtype, pl.DataType) else f.dtype())}"
            for f in dtype.fields
        )
        return f"STRUCT({fields})"
    if isinstance(dtype, pl.Decimal):
        return f"DECIMAL({dtype.precision},{dtype.scale})"
    return {
        "String": "VARCHAR",
        "Int64": "BIGINT",
        "Float64": "DOUBLE",
        "Boolean": "BOOLEAN",
        "Date": "DATE",
        "Datetime": "TIMESTAMPTZ",
    }[dtype.base_type().__name__]


def _table(spec: TableSpec) -> str:
    lines = [f"## {spec.name}", "", f"{spec.grain} Layer: {spec.layer}.", ""]
    lines.append(f"Key: {', '.join(f'`{k}`' for k in spec.key)}.")
    if spec.as_of:
        lines.append("Each row covers a life up to its day: days do not add up.")
    if spec.adds_within:
        within = ", ".join(f"`{name}`" for name in spec.adds_within)
        lines.append(f"Rows add up within one value of {within} only.")
    lines += ["", "| column | type | unit | null means | adds up | meaning |"]
    lines.append("|---|---|---|---|---|---|")
    lines += [_row(column) for column in spec.columns]
    return "\n".join([*lines, ""])


def _row(column: Column) -> str:
    meaning = column.description
    if column.allowed:
        meaning += " One of " + ", ".join(f"`{a}`" for a in column.allowed) + "."
    cells = (
        column.name,
        type_name(column.dtype),
        column.unit,
        column.null_meaning if column.nullable else "never",
        "yes" if column.adds_up else "",
        meaning,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
