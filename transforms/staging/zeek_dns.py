r"""Zeek dns.log: one record per DNS transaction that the sensor saw, as text or JSON lines.

Source: zeek/zeek, scripts/base/protocols/dns/main.zeek and the ASCII and JSON writers; lines of
Zeek's own tests and of elastic/integrations.

* A record joins query and response. `ts` is the time of the query and `rtt` that until the answer,
  so a response stands at `ts + rtt`, or at `ts` where no `rtt` is stated (no answers, or only the
  response was seen). A record without a response code, without answers and not rejected is a
  query to which Zeek saw no response.
* `answers` and `TTLs` are parallel lists; where their lengths differ, no time to live is believed.
  Owners are not stated, and types only in part: an address is A or AAAA, a text or an unknown
  record says its type, and a name is a CNAME where an address was asked or stands behind it. The
  type of any other name is null. Unset answers are null: Zeek sets the list with the first answer.
* Names are in lower case without the final dot, and not escaped but for what Zeek escapes in its
  log (`\xHH`, zeek_header.py).
* NetBIOS (port 137), multicast DNS and LLMNR (5353, 5355) are no look-ups of a resolver and are
  ignored; so are other operations and classes, and responses without a question.
* Text: fields in the order of `#fields`. Header lines are no records; other lines that begin with
  `#` are ignored as `comment`. JSON: times in seconds, milliseconds or RFC 3339, as configured.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging import parser
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import Row, recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import refuse
from transforms.staging.values import instant_of_microseconds
from transforms.staging.zeek_header import ZeekHeader, header_at, unescaped, unescaped_text
from transforms.staging.zeek_lines import Values, ZeekLog, header_has, parse_log
from transforms.staging.zeek_values import DECIMAL, RENAMED, microseconds

LOG = "dns"
MAX_LINE = 1 << 20
"""Characters of a line: a message of 64 KiB, each byte escaped, takes some 260,000."""
HEAD_LINES = 100
SHOWN_KEYS = frozenset(
    {
        b"ts", b"uid", b"id.orig_h", b"id.resp_h", b"id_orig_h", b"id_resp_h", b"proto", b"query",
        b"qtype_name", b"qclass_name", b"rcode_name", b"opcode_name", b"_path",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; answers may hold texts of any kind."""

_LISTS = frozenset({"answers", "TTLs"})
MARKS = frozenset({"query", "trans_id", "qtype_name", "rcode_name", "rejected", "AA", "RD"})
"""Fields of which another log has none or few."""
_NEEDED = ("ts", "query")
_TYPED = re.compile(
    r"(TXT|SPF|RRSIG|DNSKEY|DS|NSEC3PARAM|NSEC3|NSEC|SSHFP|LOC)(?=[ :]|\Z)|<unknown type=(\d{1,5})>"
)
_CODE = re.compile(r"(?:unassigned|rcode|query)-(\d{1,5})")

_Values = Mapping[str, Any]

_OBJECT = msgspec.json.Decoder(dict[str, Any])


# -- records -------------------------------------------------------------------------------------


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    log = ZeekLog(_NEEDED, MAX_LINE, _left_out_by, _read_text, _read_json, SHOWN_KEYS)
    return parse_log(records, context, log)


def _left_out_by(header: ZeekHeader) -> str | None:
    """Why lines under a header are left out."""
    return "other_log" if _is_other_log(header) else None


def _read_text(
    values: Values, header: ZeekHeader, record_id: str, context: FileContext
) -> tuple[parser.Row, ...] | str:
    return _row_of(_stated(values, header), record_id, context)


def _row_of(values: _Values, record_id: str, context: FileContext) -> tuple[parser.Row, ...] | str:
    found = _row(values, record_id, context)
    return found if isinstance(found, str) else ((f.TABLE, found),)


def _is_other_log(header: ZeekHeader) -> bool:
    """Whether a header names another log; one that has all marks is this log under another name."""
    return header.path not in {LOG, None} and not MARKS.issubset(header.fields)


def _stated(values: Values, header: ZeekHeader) -> _Values:
    """The values that are set, by Zeek's own names, lists as lists."""
    return {
        RENAMED.get(name, name): (header.elements(value) if name in _LISTS else header.text(value))
        for name, value in values.items()
        if value is not None
    }


def _read_json(item: Item, context: FileContext) -> tuple[parser.Row, ...] | str:
    value = decode(_OBJECT, item.data, item.path)
    if "_path" not in value and MARKS.isdisjoint(value):
        refuse("no_dns", "fields of dns.log such as query and rcode_name", None)
    for name, known in RENAMED.items():
        if name in value:
            value.setdefault(known, value[name])
    return _row_of(value, whole_record_id(item), context)


# -- rows ----------------------------------------------------------------------------------------


def _row(values: _Values, record_id: str, context: FileContext) -> Row | str:
    """The row of a record, or the word for which it is left out.

    Args:
        values: By field; unset fields are absent or none. Text is still escaped.
        record_id: Its id.
        context: What is known of the file.

    Raises:
        RefusedError: A value is not what its field says.
    """
    left_out = _left_out(values)
    if left_out is not None:
        return left_out
    start = started_at(values.get("ts"))
    if _text(values, "query") is None:
        return "no_question"
    rtt = round_trip(values)
    asked = answered(values)
    is_response = asked["is_response"]
    return {
        "record_id": record_id,
        "event_at": _event_at(start, rtt if is_response else None),
        "node": context.node,
        "client_address": f.address(_text(values, "id.orig_h"), "id.orig_h"),
        "client_port": f.port(values.get("id.orig_p"), "id.orig_p"),
        "client_namespace": None,
        "client_pod_name": None,
        "client_pod_uid": None,
        "resolver_address": f.address(_text(values, "id.resp_h"), "id.resp_h"),
        "transport": f.transport(_text(values, "proto")),
        **asked,
        "latency_seconds": rtt if is_response else None,
        "dns_message_id": f.number(values.get("trans_id"), 65_535, "trans_id"),
    }


def started_at(stated: object) -> int:
    """Microseconds since 1970 of the query.

    Raises:
        RefusedError: The value is no time.
    """
    start = microseconds(stated)
    if start is None:
        refuse("no_time", "seconds since 1970 or an RFC 3339 time in ts", stated)
    return start


def round_trip(values: _Values) -> float | None:
    """Seconds until the answer; null where they are not measured."""
    return f.measured_seconds(_seconds(values, "rtt"))


def answered(values: _Values) -> Row:
    """What was asked, and what was answered.

    Args:
        values: By field: query, qtype, qtype_name, rcode, rcode_name, answers, TTLs, rejected.

    Raises:
        RefusedError: A value is not what its field says.
    """
    rcode, found = response_code(values), _answers(values)
    return {
        **f.asked(name_asked(values), rcode, answers=found),
        "query_type": query_type(values),
        "rcode": rcode,
        "answers": found,
        "is_response": rcode is not None or found is not None or is_rejected(values),
    }


def name_asked(values: _Values) -> str:
    """The name in the field query.

    Raises:
        RefusedError: It is none.
    """
    return f.raw_name(unescaped(_text(values, "query") or ""))


def is_rejected(values: _Values) -> bool:
    """Whether the field rejected says so."""
    return _is_true(values.get("rejected"))


def _left_out(values: _Values) -> str | None:
    """Why a record is left out by rule."""
    if _text(values, "_path") not in {LOG, None}:
        return "other_log"
    port = f.port(values.get("id.resp_p"), "id.resp_p")
    if port == f.NETBIOS_PORT:
        return "netbios"
    if port in f.MULTICAST_PORTS:
        return "multicast"
    if f.number(values.get("opcode"), 15, "opcode"):
        return "other_operation"
    number = f.number(values.get("qclass"), 65_535, "qclass")
    name = _text(values, "qclass_name") if number is None else None
    return "other_class" if number not in {1, None} or name not in {"C_INTERNET", None} else None


def _text(values: _Values, name: str) -> str | None:
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        refuse(name, "a text", value)
    return value


def _is_true(value: object) -> bool:
    return value is True or value == "T"


def _event_at(start: int, rtt: float | None) -> datetime:
    later = 0 if rtt is None else round(rtt * 1_000_000)
    at = instant_of_microseconds(start + later)
    if at is None:
        refuse("no_time", "a time before the year 10000", start)
    return at


def _seconds(values: _Values, name: str) -> float | None:
    """Seconds; none where they are unset.

    Raises:
        RefusedError: The value is no number.
    """
    value = values.get(name)
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        return float(value)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(name, "seconds", value)
    return float(value) if abs(value) < 10**15 else None


def query_type(values: _Values) -> str | None:
    """Type asked; the number is surer than Zeek's name (`*`, `query-65`).

    Args:
        values: By field: qtype, qtype_name.

    Raises:
        RefusedError: A value is not what its field says.
    """
    number = f.number(values.get("qtype"), 65_535, "qtype")
    if number is not None:
        return f.record_type(f"TYPE{number}")
    name = _text(values, "qtype_name")
    if name is None:
        return None
    match = _CODE.fullmatch(name)
    return f.record_type(f"TYPE{match[1]}" if match else "ANY" if name == "*" else name)


def response_code(values: _Values) -> str | None:
    """Response code; none where no response was seen.

    Args:
        values: By field: rcode, rcode_name.

    Raises:
        RefusedError: A value is not what its field says.
    """
    number = f.number(values.get("rcode"), 4_095, "rcode")
    if number is not None:
        return f.response_code(str(number))
    name = _text(values, "rcode_name")
    if name is None:
        return None
    match = _CODE.fullmatch(name)
    return f.response_code(match[1] if match else name)


# -- answers -------------------------------------------------------------------------------------


def _answers(values: _Values) -> list[f.Answer] | None:
    """The answers; null where there are none.

    Args:
        values: By field: qtype, qtype_name, answers, TTLs.

    Raises:
        RefusedError: A value is not what its field says.
    """
    asked = query_type(values)
    texts = _elements(values, "answers")
    if texts is None:
        return None
    for text in texts:
        if not isinstance(text, str):
            refuse("answers", "a list of texts", text)
    ttls = _elements(values, "TTLs") or []
    if len(ttls) != len(texts):
        ttls = [None] * len(texts)
    addresses = [f.address_if_any(text) for text in texts]
    last = max((place for place, found in enumerate(addresses) if found), default=-1)
    return [
        answer(text, ttls[place], asked, has_address_behind=place < last)
        for place, text in enumerate(texts)
    ]


def _elements(values: _Values, name: str) -> list[Any] | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, list):
        refuse(name, "a list", value)
    return f.not_too_many(value)


def answer(text: str, ttl: object, asked: str | None, *, has_address_behind: bool) -> f.Answer:
    """One answer.

    Args:
        text: As the log has it.
        ttl: Its time to live; null is stored where it is no such number.
        asked: Type asked.
        has_address_behind: Whether an address is among the answers behind it.

    Raises:
        RefusedError: A name in it is too long.
    """
    kind, data = _data(text, asked, has_address_behind=has_address_behind)
    return f.answer(kind, data, ttl=_ttl(ttl))


def _data(
    text: str, asked: str | None, *, has_address_behind: bool
) -> tuple[str | None, str | None]:
    """Type and data of an answer."""
    typed = _TYPED.match(text)
    if typed is not None:
        kind = f.record_type(typed[1] or f"TYPE{int(typed[2])}")
        return kind, f.data_text(unescaped_text(text)) if typed[1] else None
    asks_address = asked in {"A", "AAAA"}
    address = f.address_if_any(text)
    if address is not None:
        kind = "AAAA" if ":" in text else "A"
        # What looks like an address of the other family is a name.
        if not asks_address or asked == kind:
            return kind, address
    name = f.raw_name(unescaped(text))
    is_alias = asks_address or asked == "CNAME" or has_address_behind
    return "CNAME" if is_alias else None, name


def _ttl(stated: object) -> int | None:
    """Whole seconds; null where they are unset or no such number."""
    if isinstance(stated, str):
        match = DECIMAL.fullmatch(stated)
        stated = int(match[2]) if match and not match[1] else None
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    return int(stated) if 0 <= stated <= f.MAX_TTL else None


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    beginning = head.lstrip()
    if beginning.startswith(b"#"):
        return _recognise_text(beginning)
    return recognise_records(head, _variant)


def _variant(record: Row) -> str | None:
    if record.get("_path", LOG) != LOG or "ts" not in record:
        return None
    is_connection = "id.orig_h" in record or "id_orig_h" in record
    return "JSON records" if is_connection and len(MARKS & record.keys()) > 1 else None


def _recognise_text(head: bytes) -> Recognition:
    header = header_at(head, HEAD_LINES)
    if _is_other_log(header):
        return Recognition(0)
    if header_has(header, _NEEDED) and len(MARKS & set(header.fields)) > 1:
        return Recognition(3, f"text with {len(header.fields)} fields")
    return Recognition(2, "text without its fields") if header.path else Recognition(0)


PARSER = Parser(
    name="zeek_dns",
    title="Zeek dns.log",
    tables=(f.TABLE,),
    shape="json",
    record="one line: one query with its response, as the sensor saw them; the header is none",
    cannot_tell=(
        "traffic that does not pass the sensor; encrypted DNS; pods (only addresses); owners of "
        "answers and the types of some; the sensor as a node"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "client_address", "client_port", "resolver_address", "transport", "query_type", "rcode",
        "answers", "latency_seconds", "dns_message_id",
    ),
    tested_on="real",
)  # fmt: skip
