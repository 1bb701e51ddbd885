"""Azure DNS query logs: of DNS security policies (resolver policies), and of the firewall's proxy.

Sources: the Azure Monitor reference of the tables DNSQueryLogs and AZFWDnsQuery; public scripts
that forward these resource logs. A diagnostic setting writes resource logs, one object per line or
under `records`: category `DnsResponse`, whose properties are named `query_name`, `srcipaddr`, …, or
`AZFWDnsQuery`. An export of the workspace writes rows of the tables, `QueryName`,
`SourceIpAddress`, …, where a list may be a text of JSON.

* The time is that at which the log was written, behind the response.
* `answer` has types, data and times to live, but no owners. The firewall's table has no answers, so
  they are null.
* `client_address` is what asked Azure's resolver or the firewall: the node or CoreDNS where these
  stand between. The destination is where a rule set forwarded to, and not the resolver asked.
* `QueryResponseTime` has no published unit, so there is no latency but the firewall's, in seconds.
* A record without a response code is a query without a known response; so is one of the firewall
  that has neither flags nor bytes of a response.
* What a policy decided shows in the answer that it gave: a block answers with an alias.
* Records of other categories are ignored.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.json_items import whole_record_id
from transforms.staging.json_lookups import Row, parse_lookups, recognise_records
from transforms.staging.json_records import Item, decode
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

LIST_KEY = "records"
POLICY, FIREWALL = "dnsresponse", "azfwdnsquery"
TABLES = {"dnsquerylogs": POLICY, "azfwdnsquery": FIREWALL}
"""Name of a table in lower case → category of its rows."""
SHOWN_KEYS = frozenset(
    {
        b"time", b"TimeGenerated", b"category", b"Type", b"operationName", b"OperationName",
        b"query_name", b"QueryName", b"query_type", b"QueryType", b"query_class", b"QueryClass",
        b"response_code", b"ResponseCode", b"srcipaddr", b"SourceIpAddress", b"SourceIp",
        b"srcport", b"SourcePort", b"transport", b"Transport", b"Protocol",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show; answers may hold texts of any kind."""

_TIMES = ("time", "TimeGenerated")
_FIELDS = {
    "name": ("query_name", "QueryName"),
    "type": ("query_type", "QueryType"),
    "class": ("query_class", "QueryClass"),
    "rcode": ("response_code", "ResponseCode"),
    "client": ("srcipaddr", "SourceIpAddress", "SourceIp"),
    "port": ("srcport", "SourcePort"),
    "transport": ("transport", "Transport", "Protocol"),
    "answers": ("answer", "Answer"),
    "id": ("QueryId",),
}
_MAX_TEXT = 256 << 10

_OBJECT = msgspec.json.Decoder(dict[str, Any])
Json = Mapping[str, Any]


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    yield from parse_lookups(records, context, _read, SHOWN_KEYS, LIST_KEY)


def _read(item: Item, context: FileContext) -> Row | str:
    record = decode(_OBJECT, item.data, item.path)
    category = _category(record)
    if category is None:
        refuse("no_category", "a category such as DnsResponse", None)
    if category not in {POLICY, FIREWALL}:
        return "other_category"
    properties = record.get("properties", record)
    if not isinstance(properties, dict):
        refuse("properties", "an object", properties)
    if (_text(properties, "class") or "IN").upper() not in {"IN", "1"}:
        return "other_class"
    return _row(record, properties, category, item, context)


def _row(
    record: Json, properties: Json, category: str, item: Item, context: FileContext
) -> Row | str:
    stated = next((record[key] for key in _TIMES if record.get(key) is not None), None)
    event_at = parse_instant(stated) if isinstance(stated, str) else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in time or TimeGenerated", stated)
    asked = answered(properties, category)
    return {
        "record_id": whole_record_id(item),
        "event_at": event_at,
        "node": context.node,
        "client_address": f.address(_text(properties, "client"), "source"),
        "client_port": f.port(_value(properties, "port"), "source_port"),
        "client_namespace": None,
        "client_pod_name": None,
        "client_pod_uid": None,
        "resolver_address": None,
        "transport": f.transport(_text(properties, "transport")),
        **asked,
        "query_type": f.record_type(_text(properties, "type") or None),
        "latency_seconds": _latency(properties, category) if asked["is_response"] else None,
        "dns_message_id": f.number(_value(properties, "id"), 65_535, "query_id"),
    }


def answered(properties: Json, category: str) -> Row:
    """The name asked, and what was answered.

    Args:
        properties: Fields of the record.
        category: `POLICY` or `FIREWALL`.

    Raises:
        RefusedError: A value is not what its field says.
    """
    name = name_asked(properties)
    rcode = response_code(properties, category)
    answers = None if rcode is None else _answers(_value(properties, "answers"))
    return {
        **f.asked(name, rcode, answers=answers),
        "rcode": rcode,
        "answers": answers,
        "is_response": rcode is not None,
    }


def name_asked(properties: Json) -> str:
    """The name asked.

    Raises:
        RefusedError: There is none.
    """
    name = _text(properties, "name")
    if not name:
        refuse("query_name", "a name", name)
    return f.escaped_name(name)


def _category(record: Json) -> str | None:
    """Category in lower case, also where only the name of a table tells it."""
    stated = record.get("category", record.get("Category"))
    if not isinstance(stated, str):
        stated = record.get("Type")
        return TABLES.get(stated.lower(), stated.lower()) if isinstance(stated, str) else None
    return stated.lower()


def _value(properties: Json, field: str) -> Any:  # noqa: ANN401  any JSON value
    found = (properties[key] for key in _FIELDS[field] if properties.get(key) is not None)
    return next(found, None)


def _text(properties: Json, field: str) -> str | None:
    """A text, or a number as text; none where it is absent.

    Raises:
        RefusedError: The value is neither.
    """
    value = _value(properties, field)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64:
        return str(value)
    if value is not None and not isinstance(value, str):
        refuse(field, "a text", value)
    return value


def response_code(properties: Json, category: str) -> str | None:
    """Response code; null where no response is known.

    Args:
        properties: Fields of the record.
        category: `POLICY` or `FIREWALL`.

    Raises:
        RefusedError: It is none.
    """
    stated = _text(properties, "rcode")
    if not stated or stated == "-":
        return None
    is_lost = properties.get("ResponseFlags") in ("-", "") and not properties.get("ResponseSize")
    return None if category == FIREWALL and is_lost else f.response_code(stated)


def _latency(properties: Json, category: str) -> float | None:
    seconds = properties.get("RequestDurationSecs")
    if category != FIREWALL or seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        refuse("duration", "a number of seconds", seconds)
    return f.measured_seconds(float(seconds) if abs(seconds) < 10**15 else None)


def _answers(stated: object) -> list[f.Answer] | None:
    """The answers; null where there is no list."""
    found = _decoded(stated) if isinstance(stated, str) else stated
    if found is None:
        return None
    if not isinstance(found, list):
        refuse("answer", "a list of objects", found)
    return [answer(each) for each in f.not_too_many(found)]


def answer(stated: object) -> f.Answer:
    """One answer: an object, or a text of one.

    Raises:
        RefusedError: It is none.
    """
    found = _decoded(stated) if isinstance(stated, str) else stated
    if not isinstance(found, dict):
        refuse("answer", "an object", found)
    kind_text = found.get("Type", found.get("type"))
    if isinstance(kind_text, int) and 0 <= kind_text <= 65_535:
        kind_text = f"TYPE{int(kind_text)}"
    kind = f.record_type(kind_text) if isinstance(kind_text, str) else None
    if kind is None:
        refuse("answer", "a record type in Type", kind_text)
    data = found.get("RData", found.get("rdata"))
    ttl = found.get("TTL", found.get("ttl"))
    return f.answer(
        kind,
        f.answer_data(kind, data, is_escaped=True) if isinstance(data, str) else None,
        ttl=f.number(ttl, 2**32 - 1, "answer"),
    )


def _decoded(text: str) -> Any:  # noqa: ANN401  any JSON value
    """The JSON in a text; none for an empty one.

    Raises:
        RefusedError: It is no JSON.
    """
    if not text.strip():
        return None
    if len(text) > _MAX_TEXT:
        refuse("answer", f"at most {_MAX_TEXT} characters", len(text))
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        refuse("answer", "JSON", text)


def _recognise(head: bytes) -> Recognition:
    return recognise_records(head, _variant, LIST_KEY)


def _variant(record: Row) -> str | None:
    category, properties = _category(record), record.get("properties", record)
    if category not in {POLICY, FIREWALL} or not isinstance(properties, dict):
        return None
    if not isinstance(_value(properties, "name"), str):
        return None
    kind = "firewall" if category == FIREWALL else "policy"
    return f"{kind} {'table rows' if properties is record else 'resource logs'}"


PARSER = Parser(
    name="azure_dns",
    title="Azure DNS query log",
    tables=(f.TABLE,),
    shape="json",
    record="one resource log record, or one row of the table: one query",
    cannot_tell=(
        "owners of answers; answers at all, behind the firewall's proxy; latency, but for the "
        "firewall's; pods (only addresses); the client behind CoreDNS or a node-local cache; the "
        "resolver"
    ),
    recognise=_recognise,
    parse=_parse,
    optional_columns=(
        "client_address", "client_port", "transport", "answers", "rcode", "latency_seconds",
        "dns_message_id",
    ),
)  # fmt: skip
