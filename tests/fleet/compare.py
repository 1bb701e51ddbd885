"""Compare rows that the product made with what the fixtures state.

stated = Stated.load("connections")
rows = connection.sql(stated.select("connections")).to_arrow_table().to_pylist()
assert stated.differences(rows) == []
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.fleet.answer import NOT_STATED, cell

EXPECTED = Path(__file__).resolve().parents[2] / "data" / "fixtures" / "expected"


@dataclass(frozen=True)
class Stated:
    """The stated rows of one table."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows_where: str
    rows: tuple[dict[str, str], ...]

    @classmethod
    def load(cls, name: str) -> "Stated":
        """Read the stated rows of a table, such as `connections`."""
        with (EXPECTED / "keys.csv").open(encoding="utf-8", newline="") as file:
            keys = {line["table"]: line for line in csv.DictReader(file)}
        with (EXPECTED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = tuple(dict(line) for line in reader)
            columns = tuple(reader.fieldnames or ())
        line = keys[name]
        return cls(name, columns, tuple(line["key"].split(";")), line["rows_where"], rows)

    def select(self, relation: str) -> str:
        """Return the SQL that reads the stated columns and rows of a relation."""
        names = ", ".join(f'"{column}"' for column in self.columns)
        where = f" WHERE {self.rows_where}" if self.rows_where else ""
        return f"SELECT {names} FROM {relation}{where}"

    def differences(self, rows: Iterable[Mapping[str, object]]) -> list[str]:
        """Return every difference in words; cells that are not stated are not compared."""
        found: dict[tuple[str, ...], dict[str, str]] = {}
        problems = []
        for row in rows:
            line = {column: cell(_in_utc(row[column])) for column in self.columns}
            key = self._key(line)
            if key in found:
                problems.append(f"{self.name} {key}: stands twice")
            found[key] = line
        for line in self.rows:
            key = self._key(line)
            other = found.pop(key, None)
            if other is None:
                problems.append(f"{self.name} {key}: missing")
                continue
            problems += [
                f"{self.name} {key}: {column}: expected {line[column]!r}, got {other[column]!r}"
                for column in self.columns
                if line[column] not in {NOT_STATED, other[column]}
            ]
        problems += [f"{self.name} {key}: not expected" for key in found]
        return problems

    def _key(self, line: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(line[column] for column in self.key)


def _in_utc(value: object) -> object:
    """Return a time in UTC, whatever zone the engine gave it."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    return value
