"""DNS-collector's nested JSON by columns; the rules are those of `dns_collector`.

Its flat form numbers the answers in its keys, and is the row parser's, as are Vector's events.
"""

import re
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import dns_collector
from transforms.staging import lookup_fields as f
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of
from transforms.staging.column_rules import NUMBER, TEXT
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

_NUMBER = r"^-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?$"
_LONGEST_NUMBER = 32


class _Sections(msgspec.Struct):
    an: list[dict[str, Any]] | None = None


class _Dns(msgspec.Struct, rename="kebab"):
    id: Any = None
    opcode: Any = None
    rcode: Any = None
    qname: Any = None
    qtype: Any = None
    qclass: Any = None
    malformed_packet: Any = None
    resource_records: _Sections | None = None
    operation: Any = None
    latency: Any = None


class _Dnstap(msgspec.Struct):
    operation: Any = None
    timestamp: Any = msgspec.field(name="timestamp-rfc3339ns", default=None)
    latency: Any = None
    extra: Any = None


class _Network(msgspec.Struct, rename="kebab"):
    query_ip: Any = None
    query_port: Any = None
    response_ip: Any = None
    protocol: Any = None


class _Record(msgspec.Struct):
    """What is read of a record; the last is where the first versions had the time."""

    dns: _Dns | None = None
    dnstap: _Dnstap | None = None
    network: _Network | None = None
    timestamp: Any = msgspec.field(name="timestamp-rfc3339ns", default=None)


_BEFORE = ("dns.operation", "dns.latency", "timestamp")
"""Where the first versions had values."""


def _is_nested(keys: tuple[str, ...]) -> bool:
    return "dns" in keys and "messageType" not in keys


@dataclass(frozen=True)
class _Named:
    """Reads the name asked; equal for equal forms of `extra`."""

    extra: re.Pattern[str] | None

    def __call__(
        self,
        name: object,
        rcode: object,
        extra: object,
        answers: Aliases,
    ) -> dict[str, Any]:
        if not isinstance(name, str) or name == dns_collector.ABSENT:
            refuse("qname", "a name", name)
        if extra is not None and not isinstance(extra, str):
            refuse("extra", "a text", extra)
        if rcode is not None and not isinstance(rcode, str):
            refuse("rcode", "a text", rcode)
        stated = None if extra == dns_collector.ABSENT else extra
        return f.asked(
            dns_collector.name_of(name, is_escaped=False),
            dns_collector.response_code(rcode),
            namespace=dns_collector.client_pod(stated, self.extra)[0],
            answers=aliases(answers),
        )


def _address(stated: str) -> str | None:
    return None if stated == dns_collector.ABSENT else dns_collector.address(stated)


def _latencies(records: Records) -> pa.Array:
    """Seconds; what is no plain number is in doubt, such as the texts of earlier versions."""
    column = records.checked("dnstap.latency")
    is_number = pc.and_(
        pc.match_substring_regex(column, _NUMBER),
        pc.less_equal(pc.binary_length(column), _LONGEST_NUMBER),
    )
    records.doubt(pc.invert(is_number))
    seconds = pc.if_else(is_number, column, pa.scalar(None, TEXT)).cast(NUMBER)
    is_told = pc.and_(pc.greater(seconds, 0.0), pc.less_equal(seconds, f.MAX_LATENCY_SECONDS))
    return pc.if_else(is_told, seconds, pa.scalar(None, NUMBER))


def _columns(records: Records) -> dict[str, Any]:
    for path in _BEFORE:
        records.doubt(records.json(path).is_valid())
    # Without a decoded end there are no answers.
    records.doubt(pc.not_equal(records.checked("dns.malformed_packet"), "false"))
    records.need("dnstap.operation")
    kind = records.rows(
        ("dnstap.operation", "dns.rcode", "dns.qclass", "dns.opcode"),
        ("rcode", "is_response"),
        ("resolver_side", "query", "other_class", "other_operation"),
    )
    # What stayed without a response has no answers either.
    records.doubt(pc.invert(kind["is_response"]))
    answers = answers_of(records, dns_collector.answer, "dns.resource_records.an")
    stated = records.once(dns_collector.stated_by)
    return {
        "record_id": records.line_ids(),
        "event_at": records.instants("dnstap.timestamp", parse_instant),
        "node": records.context.node,
        "client_address": records.addresses("network.query_ip", _address),
        "client_port": records.numbers("network.query_port", 65_535, dns_collector.ABSENT),
        **records.rows(("dnstap.extra",), ("client_namespace", "client_pod_name")),
        "resolver_address": records.addresses("network.response_ip", _address),
        **records.rows(("network.protocol",), ("transport",)),
        **records.each(
            _Named(stated.extra),
            ("dns.qname", "dns.rcode", "dnstap.extra", ALIASES),
            ("query_name", "original_query_name"),
        ),
        **records.rows(("dns.qtype",), ("query_type",)),
        **kind,
        "answers": answers,
        "latency_seconds": _latencies(records),
        "dns_message_id": records.numbers("dns.id", 65_535, dns_collector.ABSENT),
    }


COLUMNS = JsonColumns(
    dns_collector.PARSER,
    f.TABLE,
    Shape(_Record, whole=("dns.resource_records.an[]",), judge=_is_nested, decodes_all=True),
    _columns,
    base={
        "dnstap.operation": '"CLIENT_RESPONSE"',
        "dnstap.timestamp": '"2026-01-01T00:00:00Z"',
        "dns.rcode": '"NOERROR"',
        "dns.qname": '"x"',
    },
)
