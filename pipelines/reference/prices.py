"""Read and check the price book: list prices of what moves bytes and of requests.

What is shipped stands beside this module. A file of the settings (`reference.prices`) replaces or
extends it: its rows take the place of shipped rows of the same `price_id`, and of all tiers of
shipped rows of the same key for the days on which both are valid.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path

import polars as pl

from pipelines.reference.reference_file import (
    MAX_PROBLEMS,
    ReferenceFile,
    ReferenceRow,
    Row,
    day,
    one_of,
    or_empty,
    shown,
    text,
    wrong_file,
)
from schemas.columns import DISTANCES, GATEWAYS
from schemas.marts.costs import CHARGE_KINDS
from transforms.redaction import redact

KEY = (
    "provider", "charge_kind", "distance", "gateway", "from_region", "to_region", "usage_type",
)  # fmt: skip
"""What a price is for; rows of one key differ in their tier or their time."""

PRICES_SCHEMA = pl.Schema(
    {
        "price_id": pl.String(),
        "provider": pl.String(),
        "charge_kind": pl.String(),
        "distance": pl.String(),
        "gateway": pl.String(),
        "from_region": pl.String(),
        "to_region": pl.String(),
        "usd_per_unit": pl.Decimal(18, 9),
        "unit_bytes": pl.Int64(),
        "unit_requests": pl.Int64(),
        "usage_type": pl.String(),
        "tier_from_bytes": pl.Int64(),
        "valid_from": pl.Date(),
        "valid_to": pl.Date(),
        "source": pl.String(),
        "is_verified": pl.Boolean(),
    }
)

_LAST = date.max
_MONEY = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9})?")
_REGION = re.compile(r"[a-z0-9*?-]{1,60}")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


def load_prices(path: str | Path | None = None) -> pl.DataFrame:
    """Read the price book.

    Args:
        path: A file of the user's that replaces or extends what is shipped.

    Returns:
        The columns of `PRICES_SCHEMA`, by price_id and valid_from; null means any, a `valid_to`
        that is null no end. `tier_from_bytes` is 0 where the file states none. A shipped row that
        is replaced for a time stands once for the time before and once for the time after it.

    Raises:
        SettingsError: A file cannot be read or a row is wrong; the message has a line per wrong
            place with file, line, column, value and what was expected.
    """
    rows = list(_shipped())
    if path is not None:
        own = _priced(str(path), PRICES.stated(path))
        ids = {row["price_id"] for row in own}
        rows = [part for row in rows if row["price_id"] not in ids for part in _without(row, own)]
        rows += own
    return pl.DataFrame([_typed(row) for row in rows], schema=PRICES_SCHEMA, orient="row").sort(
        "price_id", "valid_from"
    )


@cache
def _shipped() -> tuple[Row, ...]:
    return tuple(_priced(PRICES.name, PRICES.shipped()))


def _identifier(value: str) -> str | None:
    fits = _NAME.fullmatch(value)
    return None if fits else "expected 1 to 100 of A-Z a-z 0-9 . _ -"


def _region(value: str) -> str | None:
    fits = _REGION.fullmatch(value)
    return None if fits else "expected a region, `internet`, or a glob over: a-z 0-9 - * ?"


def _usage_type(value: str) -> str | None:
    if "[" in value or "]" in value:
        return "expected a glob of * and ? only"
    return text(value)


def _money(value: str) -> str | None:
    fits = _MONEY.fullmatch(value)
    return None if fits else "expected an amount below 1000000 with at most 9 decimals"


def _count(value: str) -> str | None:
    known = re.fullmatch(r"[1-9][0-9]{0,17}", value)
    return None if known else "expected a whole number from 1 to 18 digits"


def _tier(value: str) -> str | None:
    return None if value == "0" else _count(value)


def _row_problems(row: Row) -> list[str]:
    """What is wrong with a row whose cells are right."""
    problems = []
    if bool(row["unit_bytes"]) == bool(row["unit_requests"]):
        stated = " and ".join((shown(row["unit_bytes"]), shown(row["unit_requests"])))
        problems.append(f"unit_bytes, unit_requests: {stated}: expected exactly one of them")
    elif (row["charge_kind"] == "request") != bool(row["unit_requests"]):
        unit = "unit_requests" if row["charge_kind"] == "request" else "unit_bytes"
        problems.append(f"{unit}: '': expected a number where charge_kind is {row['charge_kind']}")
    if row["valid_to"] and row["valid_to"] <= row["valid_from"]:
        problems.append(
            f"valid_to: {shown(row['valid_to'])}: expected a day after valid_from "
            f"{row['valid_from']}"
        )
    return problems


PRICES = ReferenceFile(
    "prices.csv",
    {
        "price_id": _identifier,
        "provider": or_empty(_identifier),
        "charge_kind": one_of(*CHARGE_KINDS),
        "distance": or_empty(one_of(*(d for d in DISTANCES if d != "unknown"))),
        "gateway": or_empty(one_of(*(g for g in GATEWAYS if g != "unknown"))),
        "from_region": or_empty(_region),
        "to_region": or_empty(_region),
        "usd_per_unit": _money,
        "unit_bytes": or_empty(_count),
        "unit_requests": or_empty(_count),
        "usage_type": or_empty(_usage_type),
        "tier_from_bytes": or_empty(_tier),
        "valid_from": day,
        "valid_to": or_empty(day),
        "source": text,
        "is_verified": one_of("true", "false"),
    },
    _row_problems,
)


def _priced(name: str, rows: Mapping[str, ReferenceRow]) -> list[Row]:
    """The rows of a file, of which no two are for one key, tier and day.

    Raises:
        SettingsError: Two rows overlap.
    """
    problems: list[str] = []
    by_key: dict[tuple[str, ...], list[ReferenceRow]] = {}
    for row in rows.values():
        key = (*(row.cells[column] for column in KEY), row.cells["tier_from_bytes"] or "0")
        by_key.setdefault(key, []).append(row)
    for group in by_key.values():
        ordered = sorted(group, key=lambda row: (row.cells["valid_from"], row.line))
        for earlier, later in pairwise(ordered):
            if later.cells["valid_from"] < (earlier.cells["valid_to"] or _LAST.isoformat()):
                other = redact(earlier.cells["price_id"])
                problems.append(
                    f"line {later.line}: valid_from: {shown(later.cells['valid_from'])}: overlaps "
                    f"{other} of line {earlier.line}; expected one row of a "
                    "key and tier for each day"
                )
    if problems:
        raise wrong_file(name, problems[:MAX_PROBLEMS])
    return [row.cells for row in rows.values()]


def _without(row: Row, others: Iterable[Row]) -> list[Row]:
    """What remains of a shipped row where others of its key, whatever the tier, are valid."""
    parts = [(row["valid_from"], row["valid_to"] or _LAST.isoformat())]
    for other in others:
        if any(other[column] != row[column] for column in KEY):
            continue
        start, end = other["valid_from"], other["valid_to"] or _LAST.isoformat()
        parts = [
            piece
            for first, last in parts
            for piece in ((first, min(last, start)), (max(first, end), last))
            if piece[0] < piece[1]
        ]
    return [
        {**row, "valid_from": first, "valid_to": "" if last == _LAST.isoformat() else last}
        for first, last in parts
    ]


def _typed(row: Row) -> dict[str, object]:
    values: dict[str, object] = {column: row[column] or None for column in PRICES_SCHEMA}
    for column in ("unit_bytes", "unit_requests", "tier_from_bytes"):
        values[column] = int(row[column]) if row[column] else None
    return values | {
        "usd_per_unit": Decimal(row["usd_per_unit"]),
        "tier_from_bytes": int(row["tier_from_bytes"] or "0"),
        "valid_from": date.fromisoformat(row["valid_from"]),
        "valid_to": date.fromisoformat(row["valid_to"]) if row["valid_to"] else None,
        "is_verified": row["is_verified"] == "true",
    }
