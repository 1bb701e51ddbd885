"""Zeek's dns.log as JSON by columns; the rules are those of `zeek_dns`.

A line of text in the file may say how later lines are read, so that only files that are JSON
throughout are for columns.
"""

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import lookup_fields as f
from transforms.staging import zeek_dns
from transforms.staging.column_rules import INSTANT, INTEGER, NUMBER, TEXT
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.zeek_values import RENAMED

_FIELDS = {
    "path": "_path", "ts": "ts", "orig_h": "id.orig_h", "orig_p": "id.orig_p",
    "resp_h": "id.resp_h", "resp_p": "id.resp_p", "proto": "proto", "trans_id": "trans_id",
    "rtt": "rtt", "query": "query", "qclass": "qclass", "qclass_name": "qclass_name",
    "qtype": "qtype", "qtype_name": "qtype_name", "rcode": "rcode", "rcode_name": "rcode_name",
    "opcode": "opcode", "answers": "answers", "ttls": "TTLs", "rejected": "rejected",
}  # fmt: skip
"""Part → Zeek's field."""
_RECORD = msgspec.defstruct(
    "Record", [(name, Any, msgspec.field(name=key, default=None)) for name, key in _FIELDS.items()]
)
_ANSWERED = (
    "query", "qtype", "qtype_name", "rcode", "rcode_name", "answers", "ttls", "rejected",
)  # fmt: skip
_NUMBER = r"^[0-9]{1,10}(?:\.[0-9]{1,9})?$"
_LAST_SECOND = 10**10
_MICROSECONDS = 1_000_000


def _has_columns(keys: tuple[str, ...]) -> bool:
    """Whether a record has the log's fields under their own names."""
    names = set(keys)
    return ("_path" in names or not zeek_dns.MARKS.isdisjoint(names)) and names.isdisjoint(RENAMED)


def _answered(*values: Any) -> dict[str, Any]:  # noqa: ANN401  as the parser has
    fields = (_FIELDS[name] for name in _ANSWERED)
    return zeek_dns.answered(dict(zip(fields, values, strict=True)))


def _seconds(records: Records, path: str) -> pa.Array:
    """Numbers of seconds; what is not plainly one is in doubt."""
    column = records.checked(path)
    is_number = pc.match_substring_regex(column, _NUMBER)
    records.doubt(pc.invert(is_number))
    return pc.if_else(is_number, column, pa.scalar(None, TEXT)).cast(NUMBER)


def _microseconds(seconds: pa.Array) -> pa.Array:
    return pc.round(pc.multiply(seconds, _MICROSECONDS), round_mode="half_to_even").cast(INTEGER)


def _address(stated: str) -> str | None:
    return f.address(stated, "address")


def _integer(stated: object) -> int | None:
    return f.number(stated, 65_535, "number")


def _columns(records: Records) -> dict[str, Any]:
    records.need("ts")
    records.need("query")
    kept = records.rows(
        ("path", "resp_p", "opcode", "qclass", "qclass_name"),
        (),
        ("other_log", "netbios", "multicast", "other_operation", "other_class"),
    )
    asked = records.each(
        _answered,
        _ANSWERED,
        ("query_name", "original_query_name", "query_type", "rcode", "answers", "is_response"),
    )
    started, rtt = _seconds(records, "ts"), _seconds(records, "rtt")
    records.doubt(pc.equal(started, 0.0))
    is_told = pc.and_(pc.greater(rtt, 0.0), pc.less_equal(rtt, f.MAX_LATENCY_SECONDS))
    is_told = pc.and_(is_told, asked["is_response"])
    rtt = pc.if_else(is_told, rtt, pa.scalar(None, NUMBER))
    later = pc.fill_null(_microseconds(rtt), 0)
    return {
        **kept,
        "event_at": pc.add(_microseconds(started), later).cast(INSTANT),
        "node": records.context.node,
        "client_address": records.addresses("orig_h", _address),
        "client_port": records.integers("orig_p", _integer, maximum=65_535),
        "resolver_address": records.addresses("resp_h", _address),
        **records.rows(("proto",), ("transport",)),
        **asked,
        "latency_seconds": rtt,
        "dns_message_id": records.integers("trans_id", _integer, maximum=65_535),
    }


COLUMNS = JsonColumns(
    zeek_dns.PARSER,
    f.TABLE,
    Shape(_RECORD, judge=_has_columns, decodes_all=True),
    _columns,
    base={"ts": "1773111719.5", "query": '"x"', "qtype_name": '"A"'},
    alone=(),
)
