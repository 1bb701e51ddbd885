"""Read and check a reference file: CSV whose columns are known and whose every cell has a rule."""

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path

from pipelines.errors import Clean, SettingsError
from pipelines.stated_file import NotReadError, read_stated
from transforms.redaction import redact

MAX_PROBLEMS = 20
"""So many wrong places are named at once; a file of another kind has one per row."""
MAX_BYTES = 16_000_000
MAX_TEXT = 500

_UNSIGNED = re.compile(r"UNVERIFIED|unattributed")

Check = Callable[[str], str | None]
"""Says what is expected of a value, or nothing if it is as expected."""

Row = Mapping[str, str]


def text(value: str) -> str | None:
    """Expect a text."""
    if not value or value != value.strip() or len(value) > MAX_TEXT or not value.isprintable():
        return f"expected 1 to {MAX_TEXT} printable characters without blanks around them"
    return None


def day(value: str) -> str | None:
    """Expect a day."""
    try:
        known = date.fromisoformat(value).isoformat() == value
    except ValueError:
        known = False
    return None if known else "expected a date YYYY-MM-DD"


def one_of(*allowed: str) -> Check:
    """Expect one of some words."""
    return lambda value: None if value in allowed else f"expected {', '.join(allowed)}"


def or_empty(check: Check) -> Check:
    """Expect what another rule expects, or nothing."""

    def checked(value: str) -> str | None:
        expected = check(value) if value else None
        return expected and f"{expected}, or nothing"

    return checked


def _no_problems(_row: Row) -> list[str]:
    return []


@dataclass(frozen=True)
class ReferenceFile:
    """What a reference file holds.

    Attributes:
        name: Name of the shipped file.
        checks: Check by column, in the order of the columns; the first column is the key. There
            are columns `source` and `is_verified`.
        row_problems: What is wrong with a row as a whole, whose cells are right each.
    """

    name: str
    checks: Mapping[str, Check]
    row_problems: Callable[[Row], list[str]] = _no_problems

    @property
    def key(self) -> str:
        """Column that no two rows share."""
        return next(iter(self.checks))

    def shipped(self) -> dict[str, "ReferenceRow"]:
        """Rows of the file that is shipped, by key."""
        content = files("pipelines.reference").joinpath(self.name).read_text(encoding="utf-8")
        return _read(self, self.name, content)

    def stated(self, path: str | Path) -> dict[str, "ReferenceRow"]:
        """Rows of a file of the user's, by key.

        Raises:
            SettingsError: The file cannot be read or a row is wrong; the message has a line per
                wrong place with file, line, key, value and what was expected.
        """
        return _read(self, str(path), _text_of(str(path)))


@dataclass(frozen=True)
class ReferenceRow:
    """One row with its place.

    Attributes:
        line: Line on which it ends.
        cells: Values by column.
    """

    line: int
    cells: Row


def shown(value: str) -> str:
    """A value as a message shows it."""
    return redact(repr(value))[:80]


def wrong_file(name: str, problems: list[str]) -> SettingsError:
    """The error that names all wrong places of a file; values stand in the problems as `shown`."""
    places = "\n".join(f"  {p}" for p in problems)
    return SettingsError(name, Clean(f": wrong reference file\n{places}"))


def _text_of(path: str) -> str:
    try:
        return read_stated(path, MAX_BYTES).decode("utf-8-sig")
    except NotReadError as error:
        reason = str(error)
    except UnicodeDecodeError:
        reason = "not UTF-8 text"
    raise SettingsError(path, Clean(f": {reason}; expected a readable CSV file in UTF-8"))


def _read(reference: ReferenceFile, name: str, content: str) -> dict[str, ReferenceRow]:
    columns = tuple(reference.checks)
    rows: dict[str, ReferenceRow] = {}
    problems: list[str] = []
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    try:
        header = next(reader, [])
        if sorted(header) != sorted(columns):
            found = redact(repr(", ".join(header)))[:MAX_TEXT]
            problems.append(f"line 1: header: {found}; expected {', '.join(columns)}")
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
                    f"{place}: {reference.key}: {shown(key)}: stands on line {rows[key].line} too; "
                    "expected each once"
                )
            rows[key] = ReferenceRow(reader.line_num, row)
            if len(problems) >= MAX_PROBLEMS:
                problems.append("… and perhaps more")
                break
    except csv.Error as error:
        problems.append(f"line {reader.line_num}: {error}; expected comma-separated values")
    if problems:
        raise wrong_file(name, problems)
    return rows


def _problems_of(reference: ReferenceFile, row: Row) -> list[str]:
    problems = []
    for column, check in reference.checks.items():
        expected = check(row[column])
        if expected is not None:
            problems.append(f"{column}: {shown(row[column])}: {expected}")
    if row["is_verified"] == "true" and _UNSIGNED.search(row["source"]):
        problems.append(
            "is_verified: 'true': expected false where the source is UNVERIFIED or unattributed"
        )
    return problems or reference.row_problems(row)
