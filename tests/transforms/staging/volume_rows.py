"""Read records of a flow log, and look at their rows of bytes."""

import json
from typing import Any

from tests.transforms.staging.export_text import (
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    rows,
    stated,
)
from transforms.staging.parser import Parsed, Parser

TABLE = "volume_records"


class VolumeReader:
    """Reads records of one format.

    Attributes:
        one: What one record turns out to be, checked as every result is.
        volumes: The values that its rows of bytes state, without their id.
        volume: The same of its one row.
    """

    def __init__(self, parser: Parser, head: str = "", **context: Any) -> None:
        self._parser = parser
        self._head = f"{head}\n" if head else ""
        self._context = context

    def one(self, record: Any, **context: Any) -> Parsed:
        text = record if isinstance(record, str) else json.dumps(record)
        found = parse(self._parser, self._head + text, **(self._context | context))
        check_each(found)
        check_rows(found)
        [parsed] = found
        return parsed

    def volumes(self, record: Any, **context: Any) -> list[dict[str, Any]]:
        parsed = self.one(record, **context)
        assert parsed.reject is None, parsed.reject
        assert parsed.ignore is None, parsed.ignore
        return [stated(row, "record_id") for row in rows([parsed], TABLE)]

    def volume(self, record: Any, **context: Any) -> dict[str, Any]:
        [row] = self.volumes(record, **context)
        return row

    def check_damage(self, texts: list[str], at: int, cuts: list[tuple[int, int, bytes]]) -> None:
        """Check that damage of one line changes no other."""
        records = lines(self._head + "\n".join(texts))
        place = at + len(records) - len(texts)
        clean = parse(self._parser, records, **self._context)
        hurt = damaged(records[place].data, cuts)
        records[place] = records[place]._replace(data=hurt if hurt[:1] != b"#" else b"x" + hurt)
        check_others(parse(self._parser, records, **self._context), clean, at)
