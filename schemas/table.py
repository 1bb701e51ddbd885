"""What a table is: a pandera model plus its layer, key, order and partition.

A model is declared once and everything else is derived from it: the Polars and Arrow types, the
empty table, the DuckDB comments, the data dictionary and the checks before publication.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import get_annotations
from typing import Any, Literal, TypeVar

import pandera.polars as pa
import polars as pl
import pyarrow

Layer = Literal["ledger", "staging", "intermediate", "marts"]
Partition = Literal["landing_day", "event_day"]

FLEET = "fleet"
"""Scope of a file that belongs to no single cluster; refused as a cluster name."""


class Table(pa.DataFrameModel):
    """Base of all tables: exactly the declared columns, in the declared order."""

    class Config:
        """Refuse unknown, missing and reordered columns."""

        strict = True
        ordered = True


@dataclass(frozen=True)
class Column:
    """One column as the dictionary, the catalogue and the checks see it.

    Attributes:
        name: Column name.
        dtype: Polars type.
        description: What the value is.
        nullable: Whether null may stand.
        null_meaning: What null says; empty where null may not stand.
        unit: Unit of a number, else empty.
        adds_up: Whether the values of several rows may be added.
        allowed: The only values a text may hold; empty means any.
        minimum: Smallest number allowed, or none.
    """

    name: str
    dtype: pl.DataType
    description: str
    nullable: bool
    null_meaning: str
    unit: str
    adds_up: bool
    allowed: tuple[str, ...]
    minimum: int | None


@dataclass(frozen=True)
class TableSpec:
    """A model with what pandera does not know about it.

    Attributes:
        name: Table name, the snake case of the class name.
        layer: Where it stands on the way of the data.
        model: The pandera model.
        grain: What one row is, a sentence.
        key: Columns that no two rows share (a null is a value of its own here).
        order: Total sort order of a published file.
        scope: `cluster` for one file per cluster, `fleet` for one file a day, `both` for one per
            cluster and one of what belongs to no single cluster.
        as_of: True where a row covers a run's life up to the day, so that days do not add up.
        covers: Columns whose least and greatest values are the event range of a staging row.
        adds_within: Columns of which each value is a whole of its own: rows of several values show
            the same bytes again and are not added up.
    """

    name: str
    layer: Layer
    model: type[Table]
    grain: str
    key: tuple[str, ...]
    order: tuple[str, ...]
    scope: Literal["cluster", "fleet", "both"]
    as_of: bool
    covers: tuple[str, ...]
    adds_within: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns in order, with everything the model says of them."""
        return tuple(_column(name, c) for name, c in self.model.to_schema().columns.items())

    @cached_property
    def polars_schema(self) -> pl.Schema:
        """Polars types of the columns, in order."""
        return pl.Schema({c.name: c.dtype for c in self.columns})

    @cached_property
    def arrow_schema(self) -> pyarrow.Schema:
        """Arrow types as written to Parquet; columns that may not be null are marked so."""
        arrow = pl.DataFrame(schema=self.polars_schema).to_arrow(
            compat_level=pl.CompatLevel.oldest()
        )
        return pyarrow.schema(
            [
                pyarrow.field(f.name, f.type, nullable=c.nullable)
                for f, c in zip(arrow.schema, self.columns, strict=True)
            ]
        )

    @property
    def partition(self) -> Partition:
        """Which day stands in the path."""
        landed = self.layer in {"ledger", "staging"} and "event_date" not in self.polars_schema
        return "landing_day" if landed else "event_day"

    def empty(self) -> pl.DataFrame:
        """A table without rows, with the right types."""
        return self._empty

    @cached_property
    def _empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.polars_schema)


ModelT = TypeVar("ModelT", bound=type[Table])

SPEC_ATTRIBUTE = "__table_spec__"


def table(
    layer: Layer,
    *,
    key: tuple[str, ...],
    order: tuple[str, ...] | None = None,
    scope: Literal["cluster", "fleet", "both"] = "cluster",
    as_of: bool = False,
    covers: tuple[str, ...] = (),
    adds_within: tuple[str, ...] = (),
) -> Callable[[ModelT], ModelT]:
    """Declare a model as a table; the class docstring's first line is its grain.

    Args:
        layer: Layer of design.md section 2.
        key: Columns that identify a row.
        order: Total sort order; the key if not given.
        scope: Whether a file holds one cluster or the fleet, or both kinds stand side by side.
        as_of: True for run-level tables whose newest row counts.
        covers: Columns that give a staging row's event range.
        adds_within: Columns within one value of which alone rows add up.

    Raises:
        ValueError: A key or order column is not a column of the model.
    """

    def declare(model: ModelT) -> ModelT:
        # Building pandera's schema takes milliseconds, and few processes need those of all tables.
        columns = {
            name
            for base in model.__mro__
            if issubclass(base, Table)
            for name in get_annotations(base)
        }
        unknown = [c for c in (*key, *(order or ()), *covers, *adds_within) if c not in columns]
        if unknown:
            message = f"{model.__name__}: unknown columns are named: {unknown}"
            raise ValueError(message)
        grain = (model.__doc__ or "").strip().splitlines()[0]
        spec = TableSpec(
            name=snake_case(model.__name__),
            layer=layer,
            model=model,
            grain=grain,
            key=key,
            order=order or key,
            scope=scope,
            as_of=as_of,
            covers=covers,
            adds_within=adds_within,
        )
        setattr(model, SPEC_ATTRIBUTE, spec)
        return model

    return declare


def snake_case(name: str) -> str:
    """Turn `RunVersions` into `run_versions`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _column(name: str, column: Any) -> Column:  # noqa: ANN401  pandera's own column type is untyped
    extra = column.metadata or {}
    return Column(
        name=name,
        dtype=column.dtype.type,
        description=column.description or "",
        nullable=column.nullable,
        null_meaning=extra.get("null_meaning", ""),
        unit=extra.get("unit", ""),
        adds_up=extra.get("adds_up", False),
        allowed=tuple(extra.get("allowed", ())),
        minimum=extra.get("minimum"),
    )
