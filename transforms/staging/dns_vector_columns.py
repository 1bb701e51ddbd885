"""Vector's dnstap events by columns; the rules are those of `dns_vector` and `dns_collector`.

Responses to clients are for columns; all others are the row parser's.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import dns_collector, dns_vector
from transforms.staging import lookup_fields as f
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of
from transforms.staging.column_rules import FLAG, TEXT
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

_RESPONSE = "ClientResponse"
_ANSWERS, _RCODE = "answers of the response", "code of the response"
_DATA = "response_data"


class _Header(msgspec.Struct):
    id: Any = None
    opcode: Any = None
    rcode: Any = None


class _Request(msgspec.Struct, rename="camel"):
    time: Any = None
    time_precision: Any = None


class _Response(_Request, rename="camel"):
    full_rcode: Any = None
    rcode_name: Any = None
    header: _Header | None = None
    question: Any = None
    answers: Any = None


class _Record(msgspec.Struct, rename="camel"):
    data_type: Any = None
    message_type: Any = None
    error: Any = None
    timestamp: Any = None
    extra_info: Any = None
    source_address: Any = None
    source_port: Any = None
    response_address: Any = None
    socket_protocol: Any = None
    request_data: _Request | None = None
    response_data: _Response | None = None


def _is_event(keys: tuple[str, ...]) -> bool:
    return "messageType" in keys and not {"dataType", "messageTypeId"}.isdisjoint(keys)


def _question(stated: object) -> dict[str, Any]:
    """The first question of a list, which is what was asked."""
    if not isinstance(stated, list) or not all(isinstance(each, dict) for each in stated):
        refuse("question", "a list of objects", stated)
    found = f.not_too_many(stated)
    if not found:
        refuse("question", "a question", stated)
    first: dict[str, Any] = found[0]
    return first


def _asked(question: object, opcode: object) -> dict[str, Any]:
    """Type asked, of a look-up that is not left out."""
    stated = _question(question)
    of_class, kind = stated.get("class"), stated.get("questionType")
    if of_class != "IN" or opcode not in {0, None} or isinstance(opcode, bool):
        refuse("class", "a look-up in IN", of_class)
    if kind == dns_collector.ABSENT or not isinstance(kind, str | None):
        refuse("question_type", "a record type", kind)
    return {"query_type": f.record_type(kind)}


def _code(full: object, of_header: object, name: object) -> dict[str, Any]:
    number = of_header if full is None else full
    stated = str(number) if isinstance(number, int) else name
    if not isinstance(stated, str) or stated in {dns_collector.ABSENT, dns_collector.TIMEOUT}:
        refuse("rcode", "a response code", stated)
    return {"rcode": dns_collector.response_code(stated)}


def _answer(stated: object) -> f.Answer:
    if not isinstance(stated, dict):
        refuse("answers", "a list of objects", stated)
    item = {
        "name": stated.get("domainName"),
        "rdatatype": stated.get("recordType"),
        "ttl": stated.get("ttl"),
        "rdata": stated.get("rData"),
    }
    return dns_collector.answer(item, is_escaped=True)


@dataclass(frozen=True)
class _Named:
    """Reads the name asked; equal for equal forms of `extra`."""

    stated: dns_collector.Stated

    def __call__(
        self, question: object, rcode: str | None, extra: object, answers: Aliases
    ) -> dict[str, Any]:
        name = _question(question).get("domainName")
        if not isinstance(name, str) or name == dns_collector.ABSENT:
            refuse("qname", "a name", name)
        if extra is not None and not isinstance(extra, str):
            refuse("extra", "a text", extra)
        told = None if extra in {"", dns_collector.ABSENT} else extra
        return f.asked(
            dns_collector.name_of(name, is_escaped=True),
            rcode,
            namespace=dns_collector.client_pod(told, self.stated.extra)[0],
            answers=aliases(answers),
        )


def _latency(
    asked_at: object, asked_in: object, answered_at: object, answered_in: object
) -> dict[str, Any]:
    request = {"time": asked_at, "timePrecision": asked_in}
    found = dns_vector.latency(request, {"time": answered_at, "timePrecision": answered_in})
    is_told = found is not None and abs(found) <= f.MAX_LATENCY_SECONDS
    return {"latency_seconds": f.measured_seconds(found if is_told else None)}


def _address(stated: str) -> str | None:
    is_none = stated == dns_collector.ABSENT or stated in dns_vector.UNSPECIFIED
    return None if is_none else dns_collector.address(stated)


def _addresses(records: Records, path: str) -> pa.Array:
    found = records.addresses(path, _address)
    is_none = pc.is_in(found, pa.array(sorted(dns_vector.UNSPECIFIED), TEXT))
    return pc.if_else(is_none, pa.scalar(None, TEXT), found)


def _columns(records: Records) -> dict[str, Any]:
    records.need("message_type")
    records.doubt(pc.not_equal(records.text("message_type"), _RESPONSE))
    records.doubt(records.checked("error").is_valid())
    question = f"{_DATA}.question"
    records.need(question)
    code = records.each(
        _code, (f"{_DATA}.full_rcode", f"{_DATA}.header.rcode", f"{_DATA}.rcode_name"), ("rcode",)
    )
    records.add_texts(_RCODE, code["rcode"])
    listed = records.elements(f"{_DATA}.answers")
    # Where there is no list, there are no answers.
    records.add_lists(_ANSWERS, pa.LargeListArray.from_arrays(listed.offsets, listed.values))
    answers = answers_of(records, _answer, _ANSWERS)
    return {
        "record_id": records.line_ids(),
        "event_at": records.instants("timestamp", parse_instant),
        "node": records.context.node,
        "client_address": _addresses(records, "source_address"),
        "client_port": records.numbers("source_port", 65_535, dns_collector.ABSENT),
        **records.rows(("extra_info",), ("client_namespace", "client_pod_name")),
        "resolver_address": _addresses(records, "response_address"),
        **records.rows(("socket_protocol",), ("transport",)),
        **records.each(
            _Named(records.once(dns_collector.stated_by)),
            (question, _RCODE, "extra_info", ALIASES),
            ("query_name", "original_query_name"),
        ),
        **records.each(_asked, (question, f"{_DATA}.header.opcode"), ("query_type",)),
        **code,
        "answers": answers,
        **records.each(
            _latency,
            (
                "request_data.time",
                "request_data.time_precision",
                f"{_DATA}.time",
                f"{_DATA}.time_precision",
            ),
            ("latency_seconds",),
        ),
        "is_response": pa.repeat(pa.scalar(True, FLAG), len(records)),
        "dns_message_id": records.numbers(f"{_DATA}.header.id", 65_535, dns_collector.ABSENT),
    }


COLUMNS = JsonColumns(
    dns_collector.PARSER,
    f.TABLE,
    Shape(
        _Record,
        foreign=("\\u00",),
        judge=_is_event,
        decodes_all=True,
        never_null=("fullRcode", "rcode"),
    ),
    _columns,
    base={
        "data_type": '"Message"',
        "message_type": f'"{_RESPONSE}"',
        "timestamp": '"2026-01-01T00:00:00Z"',
        f"{_DATA}.full_rcode": "0",
        f"{_DATA}.question": '[{"domainName": "x", "questionType": "A", "class": "IN"}]',
    },
)
