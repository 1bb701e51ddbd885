"""Rows for people and scripts: tables that fit a terminal, JSON, CSV.

Cells come from exports, so they are hostile: markup is shown as text, control characters are
escaped, and a CSV cell that a spreadsheet would run as a formula is quoted.
"""

import csv
import datetime as dt
import io
import json
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console

console = Console(highlight=False, emoji=False)
errors = Console(stderr=True, highlight=False, emoji=False)

FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def plain(value: Any) -> Any:  # noqa: ANN401  any cell
    """A cell as JSON holds it; times in ISO 8601, money and what JSON has no word for as text."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            # A time without a zone is UTC here, whatever the zone of this machine.
            value = value.replace(tzinfo=dt.UTC)
        return value.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, Decimal):
        # Not 0E-9.
        return f"{value:f}"
    is_json = value is None or isinstance(value, int | str)
    is_json = is_json or (isinstance(value, float) and math.isfinite(value))
    return value if is_json else str(value)


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
    return _csv([columns]) + _csv(_unlike_formulas(row) for row in rows)


def _csv(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _unlike_formulas(row: Sequence[Any]) -> list[str]:
    cells = []
    for value in row:
        cell = text(value)
        is_text = isinstance(value, str | list | dict | tuple)
        cells.append(f"'{cell}" if is_text and cell.startswith(FORMULA) else cell)
    return cells


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    form: Format = Format.TABLE,
    title: str | None = None,
    whole: Collection[str] = (),
) -> None:
    """Print rows in one of the three formats.

    Args:
        columns: Names of the columns.
        rows: The rows; a table without any says so.
        form: The format.
        title: Line above a table.
        whole: Columns whose texts a table never shortens, such as numbers with their unit.
    """
    if title and form is Format.TABLE:
        print_plain(title)
    print_blocks(columns, [rows] if rows else [], form, whole)


def print_blocks(
    columns: Sequence[str],
    blocks: Iterable[Sequence[Sequence[Any]]],
    form: Format = Format.TABLE,
    whole: Collection[str] = (),
) -> None:
    """Print rows as they come, so that no more than a block of them is held.

    Blocks of a table are laid out each for itself, with the names above; JSON and CSV are the same
    text however rows are parted.

    Args:
        columns: Names of the columns.
        blocks: The rows, some at a time; no block is empty.
        form: The format.
        whole: Columns whose texts a table never shortens.
    """
    names, is_first = _apart(columns), True
    if form is Format.CSV:
        print_plain(_csv([columns]).removesuffix("\n"))
    for rows in blocks:
        if form is Format.JSON:
            items = (to_json(dict(zip(names, row, strict=True))) for row in rows)
            # As `to_json` writes a list.
            listed = ",\n".join("  " + item.replace("\n", "\n  ") for item in items)
            print_plain(("[\n" if is_first else ",\n") + listed, end="")
        elif form is Format.CSV:
            print_plain(_csv(map(_unlike_formulas, rows)).removesuffix("\n"))
        else:
            lines = table_lines(columns, rows, terminal_width(), whole)
            print_plain("\n".join(lines if is_first else ["", *lines]))
        is_first = False
    if form is Format.JSON:
        print_plain("[]" if is_first else "\n]")
    elif form is Format.TABLE and is_first:
        print_plain("no rows")


def _apart(columns: Sequence[str]) -> list[str]:
    """Names as keys of one object: a name that stands again gets a number, as DuckDB gives it."""
    found: list[str] = []
    for column in columns:
        name, number = column, 0
        while name in found:
            number += 1
            name = f"{column}_{number}"
        found.append(name)
    return found


def terminal_width() -> int:
    """Columns of the terminal; 120 where there is none and COLUMNS does not say."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else 120


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    width: int,
    whole: Collection[str] = (),
) -> list[str]:
    """Lay rows out in lines of at most `width` cells.

    Numbers and the columns of `whole` are never shortened; long texts are, the longest first, in
    their middle. Rows of more columns than fit are written one column per line instead.
    """
    cells = [[text(value) for value in row] for row in rows]
    is_number = [
        any(isinstance(row[i], int | float | Decimal) for row in rows)
        and not any(isinstance(row[i], bool | str) for row in rows)
        for i in range(len(columns))
    ]
    widths = [
        max([cell_len(name), *(cell_len(row[i]) for row in cells)])
        for i, name in enumerate(columns)
    ]
    is_whole = [n or name in whole for n, name in zip(is_number, columns, strict=True)]
    least = [
        w if kept else min(w, max(cell_len(name), SHORTEST))
        for w, kept, name in zip(widths, is_whole, columns, strict=True)
    ]
    room = width - 2 * (len(columns) - 1)
    if sum(least) > room:
        return _upright(columns, cells, is_whole, width)
    while sum(widths) > room:
        widest = max(
            (i for i in range(len(widths)) if widths[i] > least[i]), key=widths.__getitem__
        )
        widths[widest] -= 1
    return [
        "  ".join(
            _fit(cell, w, right=number)
            for cell, w, number in zip(line, widths, is_number, strict=True)
        ).rstrip()
        for line in [list(columns), *cells]
    ]


SHORTEST = 8
"""Cells to which a text may be shortened."""


def _upright(
    columns: Sequence[str], cells: list[list[str]], is_whole: list[bool], width: int
) -> list[str]:
    label = min(max(map(cell_len, columns), default=0), max(width // 2, SHORTEST))
    room = max(width - label - 2, SHORTEST)
    lines: list[str] = []
    for row in cells:
        for name, cell, kept in zip(columns, row, is_whole, strict=True):
            if cell:
                # A line may grow too long for the terminal; a number with a hole is a wrong one.
                value = cell if kept else _fit(cell, room, right=False)
                lines.append(f"{_fit(name, label, right=False)}  {value}".rstrip())
        lines.append("")
    return lines[:-1]


def _fit(cell: str, width: int, *, right: bool) -> str:
    if cell_len(cell) > width:
        head = (width - 1) * 2 // 3
        tail = width - 1 - head
        cell = set_cell_size(cell, head) + "…" + (cell[-tail:] if tail else "")
        cell = set_cell_size(cell, width)
    pad = " " * (width - cell_len(cell))
    return pad + cell if right else cell + pad


def print_plain(value: str, end: str = "\n") -> None:
    """Print text as it is, neither wrapped nor read as markup."""
    console.file.write(f"{value}{end}")


def tell_beside(value: str) -> None:
    """Print a line beside what scripts read."""
    errors.print(value, markup=False, soft_wrap=True)


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
