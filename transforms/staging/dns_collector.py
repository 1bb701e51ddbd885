"""dnstap or sniffed DNS that a collector decoded: DNS-collector's JSON and text, Vector's JSON.

Source: DNS-collector's dnsutils/dnsmessage.go and docs/dnsconversions.md; CoreDNS's dnstap plugin;
dns_vector.py for Vector. DNS-collector's JSON is nested or flat; its text form is read where
`record_format` states its `text-format` setting (dns_text_format.py).

* One look-up counts once: rows are `CLIENT_RESPONSE` (dnstap) and `DNS_RESPONSE` (sniffer). The
  query of an answered look-up is a record of its own, told in the response too, so queries are
  ignored. A query that its export marks as unanswered (rcode `TIMEOUT` of the latency transform)
  is a row without a response; no other record tells that nothing followed.
* What a resolver asks upstream (`FORWARDER_*`, `RESOLVER_*`, …) is the same look-up again and is
  ignored as `resolver_side`.
* The time of a response is when it was sent. Latency 0 and below is not measured, so null.
* Names have no escapes and no final dot; they are escaped as DNS software prints them. In the
  flat form a list is numbered keys, and an empty list is the text `-` under the list's own name.
  An export from which a transform dropped the answers has null answers. So has a message that
  could not be decoded to its end.
* Addresses that a privacy transform hashed are no addresses: null. Addresses that it cut to a
  network look like any other, which nothing in the record tells.
* `dnstap.identity` names the DNS server as its operator chose, so it is not taken for a node.
* `dnstap.extra` is free text. It names the client's pod only where `record_format` states the
  text in the words of CoreDNS's dnstap plugin, such as
  `{/kubernetes/client-namespace}/{/kubernetes/client-pod-name}`.
* The first versions had operation and latency under `dns`, and the time beside it.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from transforms.staging import lookup_fields as f
from transforms.staging.coredns_format import pattern_of
from transforms.staging.dns_text_format import TextForm, text_fields, text_form
from transforms.staging.dns_vector import flat_fields, is_vector
from transforms.staging.json_lookups import HEAD_RECORDS, recognise_records
from transforms.staging.json_records import malformed_at, rejected_masked
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    accepted,
    ignored,
)
from transforms.staging.refusal import RefusedError, refuse, refused
from transforms.staging.values import identity, parse_instant

MAX_EXTRA = 1_024
MAX_TEXT = 64 << 10
"""Characters of a line of text; a name has at most 1,020, a list of addresses some 40 each."""

_SHOWN_KEYS = {
    "dns": (b"qname", b"qtype", b"qclass", b"rcode"),
    "dnstap": (b"operation", b"timestamp-rfc3339ns", b"latency"),
    "network": (b"family", b"protocol", b"query-ip", b"query-port", b"response-ip"),
}
_SHOWN_VECTOR_KEYS = frozenset(
    {
        b"messageType", b"timestamp", b"timePrecision", b"sourceAddress", b"responseAddress",
        b"socketProtocol", b"domainName", b"questionType", b"class", b"recordType", b"rcodeName",
    }
)  # fmt: skip
SHOWN_KEYS = _SHOWN_VECTOR_KEYS | frozenset(
    shown
    for group, names in _SHOWN_KEYS.items()
    for name in names
    for shown in (name, group.encode() + b"." + name)
)
"""Keys whose text an excerpt may show, in both forms; free text (`extra`, answers) is not shown."""
ABSENT = "-"
"""What stands in the place of a value that is not known."""
TIMEOUT = "TIMEOUT"
"""Response code of a query that its export marks as unanswered."""
_TRUE = (True, 1, "1")
_RESPONSES = frozenset({"CLIENT_RESPONSE", "DNS_RESPONSE"})
_QUERIES = frozenset({"CLIENT_QUERY", "DNS_QUERY"})
_OTHERS = re.compile(r"(?:AUTH|RESOLVER|FORWARDER|STUB|TOOL|UPDATE)_(?:QUERY|RESPONSE)")
_ANSWERS = "dns.resource-records.an"
_BEFORE = {
    "dnstap.operation": "dns.operation",
    "dnstap.latency": "dns.latency",
    "dnstap.timestamp-rfc3339ns": "timestamp-rfc3339ns",
}
"""Where the first versions had a value."""

Json = dict[str, Any]


class _Record:
    """Values of one record by their dotted path, in either form.

    Attributes:
        is_escaped: Whether names are in presentation form.
    """

    def __init__(self, value: Json, *, is_escaped: bool = False) -> None:
        self._value = value
        self._is_nested = isinstance(value.get("dns"), dict)
        self.is_escaped = is_escaped

    def get(self, path: str) -> object:
        """The value at a path; none where it is absent or `-`."""
        value = self._nested(path) if self._is_nested else self._value.get(path)
        if value is None and path in _BEFORE and self._is_nested:
            value = self._nested(_BEFORE[path])
        return None if value == ABSENT else value

    def _nested(self, path: str) -> Any:  # noqa: ANN401  any JSON value
        value: Any = self._value
        for key in path.split("."):
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        return value

    def text(self, path: str) -> str | None:
        """A text; none where it is absent.

        Raises:
            RefusedError: The value is no text.
        """
        value = self.get(path)
        if value is not None and not isinstance(value, str):
            refuse(path.rpartition(".")[2], "a text", value)
        return value

    def number(self, path: str, maximum: int) -> int | None:
        """A whole number from 0, also written as text; none where it is absent.

        Raises:
            RefusedError: The value is no such number.
        """
        return f.number(self.get(path), maximum, path.rpartition(".")[2])

    def answers(self) -> list[Json] | None:
        """The answer records as written; none where the export has none.

        Raises:
            RefusedError: They are no list of objects.
        """
        if self._is_nested:
            found = self._nested(_ANSWERS)
            if found is None:
                return None
            if found == ABSENT:
                return []
            if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
                refuse("answers", "a list of objects", found)
            return f.not_too_many(found)
        if self._value.get(_ANSWERS) == ABSENT:
            return []
        listed: list[Json] = []
        while f"{_ANSWERS}.{len(listed)}.rdatatype" in self._value:
            prefix = f"{_ANSWERS}.{len(listed)}."
            listed.append(
                {k: self._value.get(prefix + k) for k in ("name", "rdatatype", "ttl", "rdata")}
            )
        return f.not_too_many(listed) if listed else None


class Stated(NamedTuple):
    """What the `record_format` setting states: the form of `extra`, or that of whole lines."""

    extra: re.Pattern[str] | None
    text: TextForm | None


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    stated = stated_by(context)
    for raw in records:
        try:
            yield _parse_record(raw, stated, context)
        except RefusedError as error:
            is_json = raw.data.lstrip()[:1] in {b"{", b"["}
            as_text = stated.text is not None and not is_json
            yield refused(raw, error) if as_text else rejected_masked(raw, error, SHOWN_KEYS)


def stated_by(context: FileContext) -> Stated:
    """What the export states of the form of its records."""
    if context.record_format is None:
        return Stated(None, None)
    text = text_form(context.record_format)
    return Stated(None if text else pattern_of(context.record_format), text)


def _parse_record(raw: RawRecord, stated: Stated, context: FileContext) -> Parsed:
    record = _record(raw, stated.text)
    operation = record.text("dnstap.operation")
    if operation is None:
        refuse("operation", "an operation such as CLIENT_RESPONSE", None)
    is_timeout = record.get("dns.rcode") == TIMEOUT
    left_out = _left_out(record, operation, is_timeout=is_timeout)
    if left_out is not None:
        return ignored(raw, left_out)
    event_at = _event_at(record)
    row = _row(record, event_at, stated.extra, is_response=not is_timeout)
    text = raw.data.decode("utf-8", "replace").strip()
    row |= {"record_id": identity(text), "node": context.node}
    return accepted(raw, (f.TABLE, row))


def _record(raw: RawRecord, form: TextForm | None) -> _Record:
    if form is not None and raw.data.lstrip()[:1] != b"{":
        text = raw.data.decode("utf-8", "replace").strip("\r\n")
        if len(text) > MAX_TEXT:
            refuse("unreadable_line", f"at most {MAX_TEXT} characters", len(text))
        fields = text_fields(text, form)
        if fields is None:
            refuse("unreadable_line", "a line of the form that record_format states", text)
        return _Record(fields)
    value = _decode(raw.data)
    if is_vector(value):
        return _Record(flat_fields(value), is_escaped=True)
    if not isinstance(value.get("dns"), dict) and "dns.qname" not in value:
        refuse("no_dns", "an object dns or a key dns.qname", None)
    return _Record(value)


def _decode(data: bytes) -> Json:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = "invalid_json: expected one JSON object"
        raise RefusedError(message, at=malformed_at(str(error), data)) from None
    except RecursionError:
        refuse("too_deep", "JSON of a few levels")
    if not isinstance(value, dict):
        refuse("not_an_object", "an object", value)
    return value


def _left_out(record: _Record, operation: str, *, is_timeout: bool) -> str | None:
    """Why a record is left out by rule.

    Raises:
        RefusedError: The operation is none that is known.
    """
    if _OTHERS.fullmatch(operation):
        return "resolver_side"
    if operation not in _RESPONSES and operation not in _QUERIES:
        refuse("operation", "an operation such as CLIENT_RESPONSE", operation)
    if operation in _QUERIES and not is_timeout:
        return "query"
    if (record.text("dns.qclass") or "IN") != "IN":
        return "other_class"
    return "other_operation" if record.number("dns.opcode", 15) else None


def _event_at(record: _Record) -> datetime:
    stated = record.text("dnstap.timestamp-rfc3339ns")
    event_at = parse_instant(stated) if stated is not None else None
    if event_at is None:
        refuse("no_time", "an RFC 3339 time in dnstap.timestamp-rfc3339ns", stated)
    return event_at


def _row(
    record: _Record, event_at: datetime, extra: re.Pattern[str] | None, *, is_response: bool
) -> Json:
    name = record.text("dns.qname")
    if name is None:
        refuse("qname", "a name", None)
    rcode = response_code(record.text("dns.rcode")) if is_response else None
    answers = _answers(record) if is_response else None
    namespace, pod_name = client_pod(record.text("dnstap.extra"), extra)
    return {
        "event_at": event_at,
        "client_address": address(record.text("network.query-ip")),
        "client_port": record.number("network.query-port", 65_535),
        "client_namespace": namespace,
        "client_pod_name": pod_name,
        "client_pod_uid": None,
        "resolver_address": address(record.text("network.response-ip")),
        "transport": f.transport(record.text("network.protocol")),
        **f.asked(
            name_of(name, is_escaped=record.is_escaped), rcode, namespace=namespace, answers=answers
        ),
        "query_type": f.record_type(record.text("dns.qtype")),
        "rcode": rcode,
        "answers": answers,
        "latency_seconds": _latency(record) if is_response else None,
        "is_response": is_response,
        "dns_message_id": record.number("dns.id", 65_535),
    }


def name_of(stated: str, *, is_escaped: bool) -> str:
    """A name as it is stored."""
    return f.escaped_name(stated) if is_escaped else f.raw_name(stated)


def response_code(stated: str | None) -> str:
    """Code of a response.

    Raises:
        RefusedError: It is none.
    """
    return stated if stated == "UNKNOWN" else f.response_code(stated)


def address(stated: str | None) -> str | None:
    """Address; null where a text stands there that is none (`<nil>`, a hash)."""
    return f.address_if_any(stated) if stated is not None else None


def _latency(record: _Record) -> float | None:
    stated = record.get("dnstap.latency")
    if isinstance(stated, str):  # before 2024-06
        try:
            stated = float(stated) if len(stated) <= 32 else None
        except ValueError:
            stated = None
    if stated is None:
        return None
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        refuse("latency", "seconds", stated)
    return f.measured_seconds(float(stated) if abs(stated) <= f.MAX_LATENCY_SECONDS else None)


def _answers(record: _Record) -> list[Json] | None:
    if record.get("dns.malformed-packet") in _TRUE:
        return None
    found = record.answers()
    if found is None:
        return None
    return [answer(item, is_escaped=record.is_escaped) for item in found]


def answer(item: Json, *, is_escaped: bool = False) -> f.Answer:
    """One answer.

    Raises:
        RefusedError: It is none.
    """
    kind = f.record_type(_text_of(item, "rdatatype"))
    if kind is None:
        refuse("answer", "a record type", None)
    owner, data, ttl = _text_of(item, "name"), _text_of(item, "rdata"), item.get("ttl")
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int)):
        refuse("answer", "a whole number of seconds", ttl)
    return f.answer(
        kind,
        f.answer_data(kind, data, is_escaped=is_escaped) if data is not None else None,
        owner=name_of(owner, is_escaped=is_escaped) if owner is not None else None,
        ttl=ttl,
    )


def _text_of(item: Json, key: str) -> str | None:
    value = item.get(key)
    if value is None or value == ABSENT:
        return None
    if not isinstance(value, str):
        refuse("answer", f"a text in {key}", value)
    return value


def client_pod(stated: str | None, extra: re.Pattern[str] | None) -> tuple[str | None, str | None]:
    """Namespace and pod of the client, as `extra` names them.

    Args:
        stated: The text of `extra`.
        extra: Its form, where the export states it.
    """
    if extra is None or stated is None or len(stated) > MAX_EXTRA:
        return None, None
    match = extra.fullmatch(stated)
    if match is None:
        return None, None
    groups = match.groupdict()
    return _named(groups.get("namespace")), _named(groups.get("pod_name"))


def _named(value: str | None) -> str | None:
    return value if value and value != ABSENT else None


def _recognise(head: bytes) -> Recognition:
    # Only lines: a document over several lines is not this format.
    lines = head.lstrip().split(b"\n", HEAD_RECORDS)[:HEAD_RECORDS]
    found = (recognise_records(line, _variant) for line in lines if line.strip())
    return next((each for each in found if each.score), Recognition(0))


def _variant(record: Json) -> str | None:
    dns = record.get("dns")
    is_nested = isinstance(dns, dict) and "qname" in dns
    if is_nested and (isinstance(record.get("dnstap"), dict) or "operation" in (dns or {})):
        return "nested JSON lines"
    if is_vector(record) and ("requestData" in record or "responseData" in record):
        return "dnstap events of Vector"
    is_flat = "dns.qname" in record and "dnstap.operation" in record
    return "flat JSON lines" if is_flat else None


def _expected_form(stated: str) -> str | None:
    if text_form(stated) is not None:
        return None
    if {"namespace", "pod_name"} & pattern_of(stated).groupindex.keys():
        return None
    return (
        "a `text-format` with operation and qname, or the form of `extra` with "
        "{/kubernetes/client-pod-name} or {/kubernetes/client-namespace}"
    )


PARSER = Parser(
    name="dns_collector",
    title="dnstap through DNS-collector or Vector",
    tables=(f.TABLE,),
    shape="lines",
    record="one line: one DNS message",
    cannot_tell=(
        "the client's pod UID; its pod without `extra`; whether an address was cut by a privacy "
        "transform; how many look-ups a reducer merged; answers in lines of text, but for "
        "`answer-ips`"
    ),
    recognise=_recognise,
    parse=_parse,
    expected_form=_expected_form,
    optional_columns=(
        "client_address", "client_namespace", "client_pod_name", "resolver_address", "transport",
        "answers", "latency_seconds", "dns_message_id",
    ),
)  # fmt: skip
