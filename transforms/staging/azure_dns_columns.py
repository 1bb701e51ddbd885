"""Azure's DNS query logs by columns; the rules are those of `azure_dns`.

Resource logs of policies and of the firewall are for columns; rows of a workspace's tables, which
have other names, are the row parser's.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import azure_dns
from transforms.staging import lookup_fields as f
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant


class _Properties(msgspec.Struct):
    """The names of a policy's log, then those of the firewall's."""

    query_name: Any = None
    query_type: Any = None
    query_class: Any = None
    response_code: Any = None
    srcipaddr: Any = None
    srcport: Any = None
    transport: Any = None
    answer: Any = None
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


class _Record(msgspec.Struct):
    time: Any = None
    category: Any = None
    properties: _Properties | None = None


_OTHER_KEYS = frozenset({"TimeGenerated", "Category", "Type", azure_dns.LIST_KEY})
_OF_TABLES = ('"Answer"', '"Transport"', "\\u00")
"""Keys of the tables' rows that the engine does not tell from those of a policy's log; a key may be
written with escapes."""
_NAME = ("properties.query_name", "properties.of_name")
_CODE = ("properties.response_code", "properties.of_code")
_ANSWER = ("properties.answer",)
_LOST = ("properties.of_flags", "properties.of_size")
_CLIENT = ("properties.srcipaddr", "properties.of_table_address", "properties.of_address")
_PORT = ("properties.srcport", "properties.of_port")
_TRANSPORT = ("properties.transport", "properties.of_protocol")
_ALIKE = (_NAME, _CODE, _CLIENT, _PORT, _TRANSPORT)
"""Names of one value, of which a record has one."""


_ANSWERED = ("category", *_NAME, *_CODE, *_ANSWER, *_LOST)
_FIELDS = ("query_name", "QueryName", "response_code", "ResponseCode", "answer", "ResponseFlags",
           "ResponseSize")  # fmt: skip
"""The fields of _ANSWERED behind the category."""


def _answered(category: object, *values: object) -> dict[str, Any]:
    if not isinstance(category, str):
        refuse("category", "a text", category)
    stated = zip(_FIELDS, values, strict=True)
    properties = {name: value for name, value in stated if value is not None}
    return azure_dns.answered(properties, category.lower())


def _has_columns(keys: tuple[str, ...]) -> bool:
    return {"category", "properties"}.issubset(keys) and _OTHER_KEYS.isdisjoint(keys)


def _columns(records: Records) -> dict[str, Any]:
    records.need("category")
    for paths in _ALIKE:
        for number, path in enumerate(paths):
            for other in paths[:number]:
                if records.is_stated(path) and records.is_stated(other):
                    records.doubt(_are_both(records, path, other))
    kind = records.rows(
        ("category", "properties.query_class", "properties.of_class"),
        (),
        ("other_category", "other_class"),
    )
    return {
        **kind,
        "event_at": records.instants("time", parse_instant),
        "node": records.context.node,
        "client_address": _one_of(records, _CLIENT, lambda p: records.addresses(p, _address)),
        "client_port": _one_of(records, _PORT, lambda p: records.numbers(p, 65_535)),
        **records.rows(_TRANSPORT, ("transport",)),
        **records.each(
            _answered,
            _ANSWERED,
            ("query_name", "original_query_name", "rcode", "answers", "is_response"),
        ),
        **records.rows(("properties.query_type", "properties.of_type"), ("query_type",)),
        **records.rows(
            ("category", *_CODE, *_LOST, "properties.of_duration"), ("latency_seconds",)
        ),
        "dns_message_id": records.numbers("properties.of_id", 65_535),
    }


def _are_both(records: Records, path: str, other: str) -> pa.BooleanArray:
    return pc.and_(records.json(path).is_valid(), records.json(other).is_valid())


def _one_of(
    records: Records, paths: tuple[str, ...], read: Callable[[str], pa.Array]
) -> pa.Array | None:
    """A column of values of which each record has one, under one of several names."""
    found = [read(path) for path in paths if records.is_stated(path)]
    return pc.coalesce(*found) if found else None


def _address(stated: str) -> str | None:
    return f.address(stated, "source")


COLUMNS = JsonColumns(
    azure_dns.PARSER,
    f.TABLE,
    Shape(
        _Record,
        list_key=azure_dns.LIST_KEY,
        foreign=_OF_TABLES,
        judge=_has_columns,
        decodes_all=True,
    ),
    _columns,
    base={
        "time": '"2026-01-01T00:00:00Z"',
        "category": '"DnsResponse"',
        "properties.query_name": '"x"',
    },
)
