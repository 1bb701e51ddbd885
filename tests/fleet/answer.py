"""An answer: the rows that one table must hold, as far as the scenario fixes them."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from tests.fleet.clock import to_micro

NOT_STATED = "?"
"""A cell that says nothing: the scenario does not fix the value."""


@dataclass
class Table:
    """The stated rows of one table.

    `rows_where` is an SQL condition: only rows of the product that meet it are compared, and of
    those there are exactly as many as stand here. `relation` says where the columns are found if
    not in the table itself.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows_where: str = ""
    relation: str = ""
    rows: list[dict[str, object]] = field(default_factory=list)

    def add(self, **values: object) -> None:
        """State one row; a column that is not given is null."""
        unknown = set(values) - set(self.columns)
        if unknown:
            message = f"{self.name} has no column {sorted(unknown)}"
            raise KeyError(message)
        self.rows.append(values)

    def text(self) -> str:
        """Return the CSV, its rows in the order of their key."""
        lines = [[cell(row.get(column)) for column in self.columns] for row in self.rows]
        places = [self.columns.index(column) for column in self.key]
        lines.sort(key=lambda line: [line[place] for place in places])
        keys = [tuple(line[place] for place in places) for line in lines]
        if len(set(keys)) != len(keys):
            message = f"{self.name}: a key stands twice"
            raise ValueError(message)
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(lines)
        return buffer.getvalue()


def cell(value: object) -> str:
    """Return a value as the CSV files write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return to_micro(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return ";".join(cell(item) for item in value)
    return str(value)


def keys_text(tables: Sequence[Table]) -> str:
    """Return `keys.csv`: each table's natural key and which of its rows are stated."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["table", "key", "rows_where", "relation"])
    for table in sorted(tables, key=lambda item: item.name):
        writer.writerow(
            [table.name, ";".join(table.key), table.rows_where, table.relation or table.name]
        )
    return buffer.getvalue()
