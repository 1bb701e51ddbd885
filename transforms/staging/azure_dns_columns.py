"""Azure's DNS query logs by columns; the rules are those of `azure_dns`.

Resource logs of policies and of the firewall are one form, rows of a workspace's tables another.
The engine does not tell apart keys that differ in case alone, so that a record which has names of
both forms is the row parser's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import azure_dns
from transforms.staging import lookup_fields as f
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of, of_responses
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant


class _Names(msgspec.Struct):
    """Names that the logs of the firewall share with the rows of both tables."""

    query_name: Any = None
    query_type: Any = None
    query_class: Any = None
    response_code: Any = None
    srcipaddr: Any = None
    srcport: Any = None
    of_name: Any = msgspec.field(name="QueryName", default=None)
    of_type: Any = msgspec.field(name="QueryType", default=None)
    of_class: Any = msgspec.field(name="QueryClass", default=None)
    of_code: Any = msgspec.field(name="ResponseCode", default=None)
    of_address: Any = msgspec.field(name="SourceIp", default=None)
    of_table_address: Any = msgspec.field(name="SourceIpAddress", default=None)
    of_port: Any = msgspec.field(name="SourcePort", default=None)
    of_protocol: Any = msgspec.field(name="Protocol", default=None)
    of_id: Any = msgspec.field(name="QueryId", default=None)
    of_flags: Any = msgspec.field(name="ResponseFlags", default=None)
    of_size: Any = msgspec.field(name="ResponseSize", default=None)
    of_duration: Any = msgspec.field(name="RequestDurationSecs", default=None)


class _Properties(_Names):
    transport: Any = None
    answer: Any = None


class _Record(msgspec.Struct):
    time: Any = None
    category: Any = None
    properties: _Properties | None = None


class _Row(_Names):
    time: Any = msgspec.field(name="TimeGenerated", default=None)
    category: Any = msgspec.field(name="Type", default=None)
    transport: Any = msgspec.field(name="Transport", default=None)
    answer: Any = msgspec.field(name="Answer", default=None)


_ESCAPED = "\\u00"
"""A key may be written with escapes."""
_OF_ROWS = ('"Answer"', '"Transport"', _ESCAPED)
_OF_RECORDS = ('"answer"', '"transport"', _ESCAPED)
_ROW_KEYS = frozenset({"TimeGenerated", "Category", "Type", azure_dns.LIST_KEY})
_RECORD_KEYS = frozenset({"time", "category", "Category", "properties", azure_dns.LIST_KEY})
_NAME = ("query_name", "of_name")
_CODE = ("response_code", "of_code")
_LOST = ("of_flags", "of_size")
_CLIENT = ("srcipaddr", "of_table_address", "of_address")
_PORT = ("srcport", "of_port")
_TRANSPORT = ("transport", "of_protocol")
_ALIKE = (_NAME, _CODE, _CLIENT, _PORT, _TRANSPORT)
"""Names of one value, of which a record has one."""
_CODE_FIELDS = ("response_code", "ResponseCode", "ResponseFlags", "ResponseSize")


def _category(stated: object) -> str:
    if not isinstance(stated, str):
        refuse("category", "a text", stated)
    return azure_dns.TABLES.get(stated.lower(), stated.lower())


def _answered(category: object, *values: object) -> dict[str, Any]:
    stated = zip(_CODE_FIELDS, values, strict=True)
    properties = {name: value for name, value in stated if value is not None}
    rcode = azure_dns.response_code(properties, _category(category))
    return {"rcode": rcode, "is_response": rcode is not None}


def _named(name: object, other: object, rcode: str | None, answers: Aliases) -> dict[str, Any]:
    stated = {"query_name": name, "QueryName": other}
    found = azure_dns.name_asked({key: value for key, value in stated.items() if value is not None})
    return f.asked(found, rcode, answers=None if rcode is None else aliases(answers))


def _is_record(keys: tuple[str, ...]) -> bool:
    return {"category", "properties"}.issubset(keys) and _ROW_KEYS.isdisjoint(keys)


def _is_row(keys: tuple[str, ...]) -> bool:
    return {"TimeGenerated", "Type"}.issubset(keys) and _RECORD_KEYS.isdisjoint(keys)


@dataclass(frozen=True)
class _Columns:
    """Columns of one form.

    Attributes:
        parent: Path of what holds the values.
    """

    parent: str

    def __call__(self, records: Records) -> dict[str, Any]:
        records.need("category")
        for paths in map(self._paths, _ALIKE):
            for number, path in enumerate(paths):
                for other in paths[:number]:
                    if records.is_stated(path) and records.is_stated(other):
                        records.doubt(_are_both(records, path, other))
        kind = records.rows(
            ("category", *self._paths(("query_class", "of_class"))),
            (),
            ("other_category", "other_class"),
        )
        code = ("category", *self._paths((*_CODE, *_LOST)))
        answered = records.each(_answered, code, ("rcode", "is_response"))
        answers = answers_of(records, azure_dns.answer, f"{self.parent}answer", or_text=True)
        records.add_texts("rcode", answered["rcode"])
        return {
            **kind,
            "event_at": records.instants("time", parse_instant),
            "node": records.context.node,
            "client_address": self._one_of(
                records, _CLIENT, lambda path: records.addresses(path, _address)
            ),
            "client_port": self._one_of(records, _PORT, lambda path: records.numbers(path, 65_535)),
            **records.rows(self._paths(_TRANSPORT), ("transport",)),
            **answered,
            "answers": of_responses(answers, answered["is_response"]),
            **records.each(
                _named,
                (*self._paths(_NAME), "rcode", ALIASES),
                ("query_name", "original_query_name"),
            ),
            **records.rows(self._paths(("query_type", "of_type")), ("query_type",)),
            **records.rows((*code, *self._paths(("of_duration",))), ("latency_seconds",)),
            "dns_message_id": records.numbers(f"{self.parent}of_id", 65_535),
        }

    def _paths(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.parent + name for name in names)

    def _one_of(
        self, records: Records, names: tuple[str, ...], read: Callable[[str], pa.Array]
    ) -> pa.Array | None:
        """A column of values of which each record has one, under one of several names."""
        found = [read(path) for path in self._paths(names) if records.is_stated(path)]
        return pc.coalesce(*found) if found else None


def _are_both(records: Records, path: str, other: str) -> pa.BooleanArray:
    return pc.and_(records.json(path).is_valid(), records.json(other).is_valid())


def _address(stated: str) -> str | None:
    return f.address(stated, "source")


COLUMNS = JsonColumns(
    azure_dns.PARSER,
    f.TABLE,
    Shape(
        _Record,
        list_key=azure_dns.LIST_KEY,
        foreign=_OF_ROWS,
        judge=_is_record,
        decodes_all=True,
    ),
    _Columns("properties."),
    base={
        "time": '"2026-01-01T00:00:00Z"',
        "category": '"DnsResponse"',
        "properties.query_name": '"x"',
    },
    others=(
        JsonColumns(
            azure_dns.PARSER,
            f.TABLE,
            Shape(_Row, foreign=_OF_RECORDS, judge=_is_row, decodes_all=True),
            _Columns(""),
            base={
                "time": '"2026-01-01T00:00:00Z"',
                "category": '"DNSQueryLogs"',
                "of_name": '"x"',
            },
        ),
    ),
)
