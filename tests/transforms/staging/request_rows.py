"""Read one record of a log of object storage, and look at its row."""

import json
from typing import Any

from tests.transforms.staging.export_text import check_each, check_rows, parse, stated
from transforms.staging.parser import Parsed, Parser


class RequestReader:
    """Reads records of one format.

    Attributes:
        one: What one record turns out to be, checked as every result is.
        row: Table and values of the one row of a record.
        request: The values that the row states, without its id.
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

    def row(self, record: Any, **context: Any) -> tuple[str, dict[str, Any]]:
        parsed = self.one(record, **context)
        assert parsed.reject is None, parsed.reject
        assert parsed.ignore is None, parsed.ignore
        [row] = parsed.rows
        return row

    def request(self, record: Any, **context: Any) -> dict[str, Any]:
        return stated(self.row(record, **context)[1], "record_id")
