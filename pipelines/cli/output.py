"""Rows for people and scripts: tables that fit a terminal, JSON, CSV.

Cells come from exports, so they are hostile: markup is shown as text, control characters are
escaped, and a CSV cell that a spreadsheet would run as a formula is quoted.
"""

import csv
import datetime as dt
import io
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def plain(value: Any) -> Any:  # noqa: ANN401  any cell
    """A cell as JSON can hold it; times in ISO 8601, money as text."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def text(value: Any) -> str:  # noqa: ANN401  any cell
    """A cell as one line of printable text; null is empty."""
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return printable(json.dumps(value, ensure_ascii=False))
    return printable(str(value))


def printable(value: str) -> str:
    """Escape what would move a cursor or break a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)


def to_json(value: Any) -> str:  # noqa: ANN401  any value
    """Write a value as JSON text."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2)


def to_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write rows as CSV; text that begins like a formula gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = []
        for value in row:
            cell = text(value)
            is_text = isinstance(value, str | list | dict | tuple)
            cells.append(f"'{cell}" if is_text and cell.startswith(FORMULA) else cell)
        writer.writerow(cells)
    return out.getvalue()


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    form: Format = Format.TABLE,
    title: str | None = None,
) -> None:
    """Print rows in one of the three formats."""
    if form is Format.JSON:
        print_plain(to_json([dict(zip(columns, row, strict=True)) for row in rows]))
    elif form is Format.CSV:
        print_plain(to_csv(columns, rows).removesuffix("\n"))
    else:
        console.print(_table(columns, rows, title))


def print_plain(value: str) -> None:
    """Print text as it is, neither wrapped nor read as markup."""
    console.print(value, markup=False, soft_wrap=True)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    for index, name in enumerate(columns):
        numeric = any(isinstance(r[index], int | float | Decimal) for r in rows) and not any(
            isinstance(r[index], bool | str) for r in rows
        )
        table.add_column(
            name, justify="right" if numeric else "left", overflow="ellipsis", no_wrap=True,
            min_width=min(8, max((len(text(r[index])) for r in rows), default=1)),
        )  # fmt: skip
    for row in rows:
        table.add_row(*(Text(text(value)) for value in row))
    return table


def people_bytes(value: int | None) -> str:
    """Write a number of bytes for people: `1.5 GB` is 1.5 x 10^9 bytes.

    >>> people_bytes(1_500_000_000)
    '1.5 GB'
    """
    if value is None:
        return "not measured"
    size = float(value)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} PB"
