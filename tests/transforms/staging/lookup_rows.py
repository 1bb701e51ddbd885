"""Read records of a log of look-ups, and look at their rows; what every such log must keep."""

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    rows,
    stated,
    word,
)
from transforms.staging.parser import Parsed, Parser

ANY_VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**40), 10**40), st.text(max_size=5), st.lists(st.none(), max_size=2),
    st.lists(st.text(max_size=3), max_size=2), st.just({}), st.just("-"),
)  # fmt: skip
NAMES = ("query_name", "original_query_name")
TIMES = [
    ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
    ("9999-12-31T23:59:59.999999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)),
    ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, 999_999, UTC)),
    ("2026-03-10T08:00:06Z", datetime(2026, 3, 10, 8, 0, 6, 0, UTC)),
    ("2026-03-10T08:00:06.123Z", datetime(2026, 3, 10, 8, 0, 6, 123_000, UTC)),
    ("2026-03-10T08:00:06.123456Z", datetime(2026, 3, 10, 8, 0, 6, 123_456, UTC)),
    ("2026-03-10T08:00:06.123456789Z", datetime(2026, 3, 10, 8, 0, 6, 123_456, UTC)),
    ("2026-03-10T13:45:06+05:45", datetime(2026, 3, 10, 8, 0, 6, 0, UTC)),
    ("2026-03-09T22:30:06.5-09:30", datetime(2026, 3, 10, 8, 0, 6, 500_000, UTC)),
]
"""Times of all years, precisions and zones, and a leap second, as texts → as rows state them."""
NO_TIMES = [
    "9999-12-31T23:59:59-01:00", "2026-02-30T00:00:00Z", "2026-03-10T24:00:00Z",
    "2026-03-10T08:00:61Z", "2026-03-10", "1773111719", "10/Mar/2026:08:00:06 +0000", "",
]  # fmt: skip
"""Texts that are no time, or none of the calendar."""


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

    def asked(self, record: Any) -> tuple[str, str]:
        """The name that a row asks for, and the name as it was asked."""
        row = self.row(record)
        return row["query_name"], row["original_query_name"]

    def check_times(
        self, with_time: Callable[[str], Any], shown: Callable[[datetime], datetime] = lambda t: t
    ) -> None:
        """Check what times as text become, in a record that the function makes of each."""
        for text, at in TIMES:
            assert self.row(with_time(text))["event_at"] == shown(at), text
        for text in NO_TIMES:
            assert word(self.one(with_time(text))) == "no_time", text

    def check_damage(self, texts: list[str], at: int, cuts: list[tuple[int, int, bytes]]) -> None:
        """Check that damage of one line changes no other."""
        records = lines("\n".join(texts))
        clean = parse(self._parser, records, **self._context)
        records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
        check_others(parse(self._parser, records, **self._context), clean, at)

    def taken(self, samples: Path) -> set[str]:
        """Names of the samples that the parser may take for its own."""
        return {
            path.name
            for path in samples.rglob("*")
            if path.is_file() and self._parser.recognise(path.read_bytes()[: 64 << 10]).score
        }


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
