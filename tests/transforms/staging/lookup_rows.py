"""Read one record of a log of look-ups, and look at its row."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.transforms.staging.export_text import check_each, check_rows, parse, rows, stated
from transforms.staging.parser import Parsed, Parser

ANY_VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**40), 10**40), st.text(max_size=5), st.lists(st.none(), max_size=2),
    st.lists(st.text(max_size=3), max_size=2), st.just({}), st.just("-"),
)  # fmt: skip
NAMES = ("query_name", "original_query_name")


class Reader:
    """Reads records of one format.

    Attributes:
        one: What one record turns out to be, checked as every result is.
        lookup: The values that the row of one record states, without its id.
    """

    def __init__(self, parser: Parser, **context: Any) -> None:
        self._parser = parser
        self._context = context

    def one(self, record: Any, **context: Any) -> Parsed:
        text = record if isinstance(record, str | bytes) else json.dumps(record)
        [parsed] = parse(self._parser, text, **(self._context | context))
        check_each([parsed])
        check_rows([parsed])
        return parsed

    def lookup(self, record: Any, **context: Any) -> dict[str, Any]:
        return stated(self.row(record, **context), "record_id")

    def row(self, record: Any, **context: Any) -> dict[str, Any]:
        parsed = self.one(record, **context)
        assert parsed.reject is None, parsed.reject
        assert parsed.ignore is None, parsed.ignore
        [row] = rows([parsed], "dns_lookups")
        return row


def with_changes(base: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Make a function that gives a record with values at paths changed; `...` takes one out."""

    def changed(changes: dict[str, Any]) -> dict[str, Any]:
        value = deepcopy(base)
        for path, new in changes.items():
            *outer, last = path.split("/")
            place = value
            for key in outer:
                place = place[key]
            if new is ...:
                del place[last]
            else:
                place[last] = new
        return value

    return changed


def but(row: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The values that a row states when some are others; none takes one out."""
    return {k: v for k, v in (row | fields).items() if v is not None}
