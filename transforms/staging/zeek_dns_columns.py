"""Zeek's dns.log as JSON by columns; the rules are those of `zeek_dns`.

A line of text in the file may say how later lines are read, so that only files that are JSON
throughout are for columns.
"""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import lookup_fields as f
from transforms.staging import zeek_dns
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of
from transforms.staging.column_rules import FLAG, INSTANT, INTEGER, NUMBER, TEXT, Doubts, Rule
from transforms.staging.json_columns import JsonColumns, Records, joined
from transforms.staging.json_shapes import Shape
from transforms.staging.json_texts import unquoted
from transforms.staging.line_columns import Places
from transforms.staging.parser import FileContext
from transforms.staging.refusal import refuse
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
_CODE = ("rcode", "rcode_name", "rejected")
_TYPE = ("qtype", "qtype_name")
_ANSWERS = "answers with what tells their types"
_NUMBER = r"^[0-9]{1,10}(?:\.[0-9]{1,9})?$"
_LAST_SECOND = 10**10
_MICROSECONDS = 1_000_000


def _has_columns(keys: tuple[str, ...]) -> bool:
    """Whether a record has the log's fields under their own names."""
    names = set(keys)
    return ("_path" in names or not zeek_dns.MARKS.isdisjoint(names)) and names.isdisjoint(RENAMED)


def _values(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((_FIELDS[name] for name in names), values, strict=True))


def _response(*values: Any) -> dict[str, Any]:  # noqa: ANN401  as the parser has
    stated = _values(_CODE, values)
    code = zeek_dns.response_code(stated)
    return {"rcode": code, "is_response": code is not None or zeek_dns.is_rejected(stated)}


def _query_type(*values: Any) -> str | None:  # noqa: ANN401  as the parser has
    return zeek_dns.query_type(_values(_TYPE, values))


def _typed(*values: Any) -> dict[str, Any]:  # noqa: ANN401  as the parser has
    return {"query_type": _query_type(*values)}


def _named(query: Any, rcode: str | None, answers: Aliases) -> dict[str, Any]:  # noqa: ANN401
    name = zeek_dns.name_asked({"query": query})
    return f.asked(name, rcode, answers=aliases(answers))


def _answer(stated: list[Any]) -> f.Answer:
    text, ttl, asked, has_address_behind = stated
    if not isinstance(text, str):
        refuse("answers", "a list of texts", text)
    return zeek_dns.answer(text, ttl, asked, has_address_behind=has_address_behind)


def _is_address(text: str) -> bool:
    return f.address_if_any(text) is not None


class _Reader:
    """Rules of one file."""

    def __init__(self, _context: FileContext) -> None:
        self.is_address = Rule(_is_address, FLAG, is_text=False)


def _add_answers(records: Records, asked: pa.Array) -> None:
    """Add the answers, each with its time to live and what else tells its type.

    Args:
        records: The records.
        asked: Type asked in each.
    """
    answers, ttls = records.elements("answers"), records.elements("ttls")
    lengths = _lengths(answers)
    ttl_lengths = _lengths(ttls)
    records.doubt(pa.array(ttl_lengths > f.MAX_ANSWERS))
    texts = answers.flatten()
    owners = np.repeat(np.arange(len(records)), lengths)
    is_told = (lengths == ttl_lengths)[owners]
    told = np.zeros(len(owners), np.int64)
    starts = np.append(0, np.cumsum(ttl_lengths))[:-1]
    first = np.append(0, np.cumsum(lengths))[:-1]
    place = np.arange(len(owners)) - first[owners]
    told[is_told] = (starts[owners] + place)[is_told]
    ttl = ttls.flatten().take(pa.array(told, mask=~is_told))
    is_address = records.once(_Reader).is_address.apply(unquoted(texts), Doubts())
    last = np.full(len(records), -1, np.int64)
    at = np.flatnonzero(is_address.to_numpy(zero_copy_only=False))
    last[owners[at]] = place[at]
    behind = np.where(place < last[owners], "true", "false")
    kinds = pc.fill_null(joined('"', asked, '"'), "null").take(pa.array(owners))
    added = joined(
        "[", texts, ",", pc.fill_null(ttl, "null"), ",", kinds, ",", pa.array(behind, TEXT), "]"
    )
    offsets = pa.array(np.append(first, len(owners)))
    records.add_lists(
        _ANSWERS, pa.LargeListArray.from_arrays(offsets, added, mask=answers.is_null())
    )


def _lengths(lists: pa.LargeListArray) -> Places:
    found = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.int64)


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
    asked = records.each(_typed, _TYPE, ("query_type",))
    response = records.each(_response, _CODE, ("rcode", "is_response"))
    _add_answers(records, asked["query_type"])
    answers = answers_of(records, _answer, _ANSWERS)
    is_response = pc.or_(response["is_response"], answers.is_valid())
    records.add_texts("code", response["rcode"])
    started, rtt = _seconds(records, "ts"), _seconds(records, "rtt")
    records.doubt(pc.equal(started, 0.0))
    is_told = pc.and_(pc.greater(rtt, 0.0), pc.less_equal(rtt, f.MAX_LATENCY_SECONDS))
    is_told = pc.and_(is_told, is_response)
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
        **records.each(_named, ("query", "code", ALIASES), ("query_name", "original_query_name")),
        **asked,
        "rcode": response["rcode"],
        "answers": answers,
        "is_response": is_response,
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
