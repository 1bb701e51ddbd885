"""Read and check reference files: the endpoint catalogue and the well-known addresses.

What is shipped stands beside this module; a file of the settings extends it, and a row whose
pattern is shipped replaces the shipped row.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path

import polars as pl

from pipelines.errors import SettingsError

ENDPOINT_KINDS = ("primary", "redirect", "blob", "auth", "metadata")
ADDRESS_KINDS = ("metadata", "dns", "time", "platform")
MAX_PROBLEMS = 20
"""So many wrong places are named at once; a file of another kind has one per row."""
MAX_BYTES = 16_000_000
MAX_TEXT = 500

_PATTERN = re.compile(r"[a-z0-9._:*?-]{1,253}")
_UNSIGNED = re.compile(r"UNVERIFIED|unattributed")

Check = Callable[[str], str | None]
"""Says what is expected of a value, or nothing if it is as expected."""


def load_endpoints(path: str | Path | None = None) -> pl.DataFrame:
    """Read the endpoint catalogue.

    Args:
        path: A file of the user's that extends what is shipped and replaces rows of equal patterns.

    Returns:
        Columns pattern, service, operation, kind, source, as_of (date), is_verified (boolean), by
        pattern.

    Raises:
        SettingsError: A file cannot be read or a row is wrong; the message has a line per wrong
            place with file, line, key, value and what was expected.
    """
    rows = _shipped(ENDPOINTS)
    if path is not None:
        rows |= _read(ENDPOINTS, str(path), _text_of(str(path)))
    return _frame(ENDPOINTS, rows)


def load_well_known_addresses() -> pl.DataFrame:
    """Read the addresses that mean the same everywhere, by address.

    Returns:
        Columns address, name, kind, provider (null where none), source, as_of, is_verified.
    """
    return _frame(ADDRESSES, _shipped(ADDRESSES))


def _pattern(value: str) -> str | None:
    if not _PATTERN.fullmatch(value):
        return "expected a glob over lower-case host names: a-z 0-9 . - _ : * ?"
    if not re.search(r"[a-z0-9]", value):
        return "expected at least one letter or digit, else it matches every host"
    return None


def _address(value: str) -> str | None:
    try:
        canonical = str(ip_address(value))
    except ValueError:
        return "expected an IP address"
    return None if canonical == value else f"expected the canonical form {canonical}"


def _text(value: str) -> str | None:
    if not value or value != value.strip() or len(value) > MAX_TEXT or not value.isprintable():
        return f"expected 1 to {MAX_TEXT} printable characters without blanks around them"
    return None


def _text_or_empty(value: str) -> str | None:
    return _text(value) if value else None


def _day(value: str) -> str | None:
    try:
        known = date.fromisoformat(value).isoformat() == value
    except ValueError:
        known = False
    return None if known else "expected a date YYYY-MM-DD"


def _one_of(*allowed: str) -> Check:
    return lambda value: None if value in allowed else f"expected {', '.join(allowed)}"


@dataclass(frozen=True)
class ReferenceFile:
    """What a reference file holds.

    Attributes:
        name: Name of the shipped file.
        checks: Check by column, in the order of the columns; the first column is the key.
    """

    name: str
    checks: Mapping[str, Check]

    @property
    def key(self) -> str:
        """Column that no two rows share."""
        return next(iter(self.checks))


_PROVENANCE: dict[str, Check] = {
    "source": _text,
    "as_of": _day,
    "is_verified": _one_of("true", "false"),
}

ENDPOINTS = ReferenceFile(
    "endpoints.csv",
    {
        "pattern": _pattern,
        "service": _text,
        "operation": _text,
        "kind": _one_of(*ENDPOINT_KINDS),
        **_PROVENANCE,
    },
)
ADDRESSES = ReferenceFile(
    "well_known_addresses.csv",
    {
        "address": _address,
        "name": _text,
        "kind": _one_of(*ADDRESS_KINDS),
        "provider": _text_or_empty,
        **_PROVENANCE,
    },
)


def _shipped(reference: ReferenceFile) -> dict[str, dict[str, str]]:
    text = files("pipelines.reference").joinpath(reference.name).read_text(encoding="utf-8")
    return _read(reference, reference.name, text)


def _text_of(path: str) -> str:
    expected = "expected a readable CSV file in UTF-8"
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            message = f"{path}: expected at most {MAX_BYTES} bytes"
            raise SettingsError(message)
        return content.decode("utf-8-sig")
    except OSError as error:
        message = f"{path}: {error.strerror}; {expected}"
    except ValueError as error:
        message = f"{path}: {type(error).__name__}; {expected}"
    raise SettingsError(message)


def _read(reference: ReferenceFile, name: str, text: str) -> dict[str, dict[str, str]]:
    """Parse and check one file.

    Returns:
        Rows by key.
    """
    columns = tuple(reference.checks)
    rows: dict[str, dict[str, str]] = {}
    lines: dict[str, int] = {}
    problems: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if sorted(header) != sorted(columns):
            found = ", ".join(header)[:MAX_TEXT]
            problems.append(f"line 1: header: {found!r}; expected {', '.join(columns)}")
        for cells in reader if not problems else ():
            place = f"line {reader.line_num}"
            if len(cells) != len(header):
                problems.append(f"{place}: {len(cells)} values; expected {len(header)}")
                continue
            row = dict(zip(header, cells, strict=True))
            problems += [f"{place}: {problem}" for problem in _problems_of(reference, row)]
            key = row[reference.key]
            if key in rows:
                problems.append(
                    f"{place}: {reference.key}: {_shown(key)}: stands on line {lines[key]} too; "
                    "expected each once"
                )
            rows[key] = row
            lines[key] = reader.line_num
            if len(problems) >= MAX_PROBLEMS:
                problems.append("… and perhaps more")
                break
    except csv.Error as error:
        problems.append(f"line {reader.line_num}: {error}; expected comma-separated values")
    if problems:
        message = f"{name}: wrong reference file\n" + "\n".join(f"  {p}" for p in problems)
        raise SettingsError(message)
    return rows


def _problems_of(reference: ReferenceFile, row: Mapping[str, str]) -> list[str]:
    problems = []
    for column, check in reference.checks.items():
        expected = check(row[column])
        if expected is not None:
            problems.append(f"{column}: {_shown(row[column])}: {expected}")
    if row["is_verified"] == "true" and _UNSIGNED.search(row["source"]):
        problems.append(
            "is_verified: 'true': expected false where the source is UNVERIFIED or unattributed"
        )
    return problems


def _shown(value: str) -> str:
    return repr(value[:80])


def _frame(reference: ReferenceFile, rows: Mapping[str, Mapping[str, str]]) -> pl.DataFrame:
    ordered = [rows[key] for key in sorted(rows)]
    return pl.DataFrame(
        {column: [row[column] or None for row in ordered] for column in reference.checks},
        schema=dict.fromkeys(reference.checks, pl.String),
    ).with_columns(
        pl.col("as_of").str.to_date("%Y-%m-%d"),
        is_verified=pl.col("is_verified") == "true",
    )
