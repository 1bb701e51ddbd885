"""Rows for tests of transforms: partial values in, frames with every column of the schema out."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from ipaddress import ip_network
from typing import Any

import polars as pl

from schemas.registry import table_spec
from transforms.intermediate.address_prefixes import ADDRESS_RANGES, network_key
from transforms.sql import SqlSession

DAY = date(2026, 3, 2)
"""The event day of the tests."""

_FILLERS: tuple[tuple[Any, Any], ...] = (
    (pl.String, ""),
    (pl.Int64, 0),
    (pl.Boolean, False),
    (pl.Float64, 0.0),
    (pl.Date, DAY),
    (pl.Datetime("us", "UTC"), datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC)),
)


def at(clock: str, day: date = DAY, *, days: int = 0) -> datetime:
    """The instant `HH:MM[:SS[.ffffff]]` of the test day, or of a day so many days from it."""
    shifted = day + timedelta(days=days)
    return datetime.fromisoformat(f"{shifted.isoformat()}T{clock}").replace(tzinfo=UTC)


def frame(
    table: str, rows: Iterable[Mapping[str, Any]], *, date_column: bool = False
) -> pl.DataFrame:
    """Make a frame with every column of a table.

    Args:
        table: Name of the table.
        rows: Partial rows. Columns left out are null where the schema allows it; else they get an
            unlike-real filler (empty text, 0, false), an id of their own for staging rows, and the
            first allowed value of a closed set. Unknown columns are refused.
        date_column: Also take a `date` column, as views of intermediate and mart tables have;
            the test day where a row leaves it out.
    """
    schema = dict(_schema(table))
    fillers = dict(_row_of_fillers(table))
    if date_column:
        schema["date"] = pl.Date()
        fillers["date"] = DAY
    is_staging = table_spec(table).layer == "staging"
    full: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        unknown = sorted(set(row) - set(schema))
        if unknown:
            message = f"{table} has no columns {unknown}"
            raise ValueError(message)
        place = {"export_file_id": "file", "record_index": number, "record_id": f"r{number}"}
        full.append(fillers | (place if is_staging else {}) | dict(row))
    return pl.DataFrame(full, schema=schema, orient="row")


@cache
def _schema(table: str) -> pl.Schema:
    return table_spec(table).polars_schema


@cache
def _row_of_fillers(table: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column in table_spec(table).columns:
        if column.nullable:
            values[column.name] = None
        elif column.allowed:
            values[column.name] = column.allowed[0]
        else:
            fitting = [value for dtype, value in _FILLERS if column.dtype == dtype]
            values[column.name] = fitting[0] if fitting else []
    return values


def show(session: SqlSession, **tables: Iterable[Mapping[str, Any]]) -> None:
    """Register partial rows as tables of their names; derived ones get a `date` column."""
    for name, rows in tables.items():
        if name == "address_ranges":
            session.register(name, pl.DataFrame(list(rows), schema=ADDRESS_RANGES))
            continue
        # `all_flows` holds the repeated rows of `flows` too.
        table = name.removeprefix("all_")
        derived = table_spec(table).layer in {"intermediate", "marts"}
        session.register(name, frame(table, rows, date_column=derived))


def network_row(
    cidr: str, provider: str | None, service: str | None, region: str | None
) -> dict[str, Any]:
    """A row of `address_ranges`, the providers' published networks."""
    network = ip_network(cidr)
    return {
        "network": network_key(network),
        "prefix_length": network.prefixlen,
        "provider": provider,
        "service": service,
        "region": region,
        "valid_from": at("00:00"),
    }


def rows_of(
    session: SqlSession, name: str, *columns: str, order: str = "ALL"
) -> list[tuple[Any, ...]]:
    """Some columns of a table, sorted."""
    chosen = ", ".join(f'"{c}"' for c in columns) or "*"
    return session.connection.execute(f'SELECT {chosen} FROM "{name}" ORDER BY {order}').fetchall()


def checked(session: SqlSession, table: str, name: str) -> pl.DataFrame:
    """The rows of a built table after the checks that publication makes.

    Exactly the schema's columns, valid values, and no two rows with one key.
    """
    spec, schema = table_spec(table), _schema(table)
    built = session.frame(name)
    assert sorted(built.columns) == sorted(schema)
    typed = built.select(schema.names())
    assert dict(typed.schema) == dict(schema)
    spec.model.validate(typed)
    assert typed.select(spec.key).is_duplicated().sum() == 0
    return typed.sort(spec.order, nulls_last=True)
