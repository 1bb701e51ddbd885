"""Whether a column can hold a value that rows are filtered by: one that cannot is a mistake."""

import re

import duckdb

from pipelines.errors import PodledgerError, wrong_option
from schemas.table import TableSpec

TEXT = "VARCHAR"
_WHOLE = re.compile(r"(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER)\Z")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+\Z")
_EXPECTED = (
    (_WHOLE, "a whole number"),
    (re.compile(r"DOUBLE|FLOAT|DECIMAL[^\[]*\Z"), "a number"),
    (re.compile(r"BOOLEAN\Z"), "true or false"),
    (re.compile(r"DATE\Z"), "a day such as 2026-03-10"),
    (re.compile(r"TIMESTAMP[^\[]*\Z"), "a time such as 2026-03-10T09:30:00Z"),
    (re.compile(r".*\[\]\Z"), "a whole list such as [a, b]"),
)


def require_possible_value(
    connection: duckdb.DuckDBPyConnection, spec: TableSpec, column: str, kind: str, value: str
) -> None:
    """Refuse a value that no row can have.

    Args:
        connection: Whose engine tells what it can read as the type.
        spec: The table.
        column: Column of it, or its day.
        kind: Type of the column, as the engine calls it.
        value: The value.

    Raises:
        PodledgerError: Names the column, the value and what was expected.
    """
    allowed = next((c.allowed for c in spec.columns if c.name == column), ())
    if kind == TEXT:
        if allowed and value not in allowed:
            raise _impossible(column, value, f"one of {', '.join(allowed)}")
        return
    # The engine would round 1.7 to a whole number.
    is_possible = bool(_WHOLE_NUMBER.match(value)) or not _WHOLE.match(kind)
    if is_possible:
        found = connection.execute(f"SELECT TRY_CAST($value AS {kind})", {"value": value})
        is_possible = found.fetchall()[0][0] is not None
    if not is_possible:
        expected = next((words for shape, words in _EXPECTED if shape.match(kind)), kind)
        raise _impossible(column, value, expected)


def _impossible(column: str, value: str, expected: str) -> PodledgerError:
    return wrong_option(f"--{column.replace('_', '-')}", value[:200], expected)
