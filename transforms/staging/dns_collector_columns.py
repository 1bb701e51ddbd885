"""DNS-collector's JSON by columns, nested or flat; the rules are those of `dns_collector`.

The flat form numbers the answers in its keys; records of more than some answers are the row
parser's. Vector's events have columns of their own (dns_vector_columns.py).
"""

import re
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import dns_collector, dns_vector_columns
from transforms.staging import lookup_fields as f
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of, of_responses
from transforms.staging.column_rules import NUMBER, TEXT
from transforms.staging.json_columns import JsonColumns, Records, joined
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


_MOST_FLAT = 8
"""Answers of a flat record that is for columns."""
_OF_ANSWER = ("name", "rdatatype", "ttl", "rdata")
_LIST = "dns.resource-records.an"
_FLAT_KEYS = {
    "dns_id": "dns.id", "dns_opcode": "dns.opcode", "dns_rcode": "dns.rcode",
    "dns_qname": "dns.qname", "dns_qtype": "dns.qtype", "dns_qclass": "dns.qclass",
    "dns_malformed_packet": "dns.malformed-packet", "dnstap_operation": "dnstap.operation",
    "dnstap_timestamp": "dnstap.timestamp-rfc3339ns", "dnstap_latency": "dnstap.latency",
    "dnstap_extra": "dnstap.extra", "network_query_ip": "network.query-ip",
    "network_query_port": "network.query-port", "network_response_ip": "network.response-ip",
    "network_protocol": "network.protocol", "answers": _LIST,
    **{
        f"{part}_{number}": f"{_LIST}.{number}.{part}"
        for number in range(_MOST_FLAT)
        for part in _OF_ANSWER
    },
}  # fmt: skip
"""Part → key."""
_FLAT_RECORD = msgspec.defstruct(
    "Flat", [(part, Any, msgspec.field(name=key, default=None)) for part, key in _FLAT_KEYS.items()]
)
_NUMBERED = re.compile(re.escape(f"{_LIST}.") + r"(\d+)\.")
_BEFORE = ("dns.operation", "dns.latency", "timestamp")
"""Where the first versions had values."""


def _is_nested(keys: tuple[str, ...]) -> bool:
    return "dns" in keys and "messageType" not in keys


def _is_flat(keys: tuple[str, ...]) -> bool:
    numbers = [match[1] for key in keys if (match := _NUMBERED.match(key))]
    is_known = all(len(number) == 1 and int(number) < _MOST_FLAT for number in numbers)
    return is_known and "dns.qname" in keys and {"dns", "messageType"}.isdisjoint(keys)


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
        is_response = rcode != dns_collector.TIMEOUT
        return f.asked(
            dns_collector.name_of(name, is_escaped=False),
            dns_collector.response_code(rcode) if is_response else None,
            namespace=dns_collector.client_pod(stated, self.extra)[0],
            answers=aliases(answers) if is_response else None,
        )


def _address(stated: str) -> str | None:
    return None if stated == dns_collector.ABSENT else dns_collector.address(stated)


def _latencies(records: Records, path: str) -> pa.Array:
    """Seconds; what is no plain number is in doubt, such as the texts of earlier versions."""
    column = records.checked(path)
    is_number = pc.and_(
        pc.match_substring_regex(column, _NUMBER),
        pc.less_equal(pc.binary_length(column), _LONGEST_NUMBER),
    )
    records.doubt(pc.invert(is_number))
    seconds = pc.if_else(is_number, column, pa.scalar(None, TEXT)).cast(NUMBER)
    is_told = pc.and_(pc.greater(seconds, 0.0), pc.less_equal(seconds, f.MAX_LATENCY_SECONDS))
    return pc.if_else(is_told, seconds, pa.scalar(None, NUMBER))


def _add_flat_answers(records: Records, name: str) -> None:
    """Add the answers of flat records, as the nested form has them."""
    count = len(records)
    listed = records.checked("answers")
    is_empty = pc.fill_null(pc.equal(listed, f'"{dns_collector.ABSENT}"'), False)
    has_one, elements = [], []
    for number in range(_MOST_FLAT):
        paths = [f"{part}_{number}" for part in _OF_ANSWER]
        if not any(records.is_stated(path) for path in paths):
            break
        parts = [records.checked(path) for path in paths]
        is_there = parts[1].is_valid()
        for part in parts:
            # What has no type ends the list.
            records.doubt(pc.and_not(part.is_valid(), is_there))
        members: list[pa.Array | str] = []
        for key, part in zip(_OF_ANSWER, parts, strict=True):
            members += [f'{"," if members else "{"}"{key}":', pc.fill_null(part, "null")]
        has_one.append(is_there.to_numpy(zero_copy_only=False))
        elements.append(joined(*members, "}"))
    stated = np.array(has_one, np.bool_).reshape(len(has_one), count)
    is_listed = np.logical_and.accumulate(stated, axis=0)
    lengths = is_listed.sum(axis=0)
    # A list that is empty, or has a gap, has nothing behind.
    odd = stated.sum(axis=0) != lengths
    odd |= is_empty.to_numpy(zero_copy_only=False) & (lengths > 0)
    records.doubt(pa.array(odd))
    owners, numbers = np.nonzero(is_listed.T)
    texts = pa.concat_arrays(elements) if elements else pa.array([], TEXT)
    lists = pa.LargeListArray.from_arrays(
        pa.array(np.append(0, np.cumsum(lengths)).astype(np.int64)),
        texts.take(pa.array(numbers * count + owners)),
        mask=pc.invert(pc.or_(is_empty, pa.array(lengths > 0))),
    )
    records.add_lists(name, lists)


@dataclass(frozen=True)
class _Columns:
    """Columns of one form.

    Attributes:
        between: What stands between the words of a path.
    """

    between: str

    def __call__(self, records: Records) -> dict[str, Any]:
        name = self._path
        # Without a decoded end there are no answers.
        records.doubt(pc.not_equal(records.checked(name("dns.malformed_packet")), "false"))
        records.need(name("dnstap.operation"))
        kind = records.rows(
            (
                name("dnstap.operation"),
                name("dns.rcode"),
                name("dns.qclass"),
                name("dns.opcode"),
            ),
            ("rcode", "is_response"),
            ("resolver_side", "query", "other_class", "other_operation"),
        )
        is_response = pc.fill_null(kind["is_response"], True)
        answers = answers_of(records, dns_collector.answer, name("dns.resource_records.an"))
        stated = records.once(dns_collector.stated_by)
        return {
            "record_id": records.line_ids(),
            "event_at": records.instants(name("dnstap.timestamp"), parse_instant),
            "node": records.context.node,
            "client_address": records.addresses(name("network.query_ip"), _address),
            "client_port": records.numbers(
                name("network.query_port"), 65_535, dns_collector.ABSENT
            ),
            **records.rows((name("dnstap.extra"),), ("client_namespace", "client_pod_name")),
            "resolver_address": records.addresses(name("network.response_ip"), _address),
            **records.rows((name("network.protocol"),), ("transport",)),
            **records.each(
                _Named(stated.extra),
                (name("dns.qname"), name("dns.rcode"), name("dnstap.extra"), ALIASES),
                ("query_name", "original_query_name"),
            ),
            **records.rows((name("dns.qtype"),), ("query_type",)),
            **kind,
            "answers": of_responses(answers, is_response),
            "latency_seconds": pc.if_else(
                is_response,
                _latencies(records, name("dnstap.latency")),
                pa.scalar(None, NUMBER),
            ),
            "dns_message_id": records.numbers(name("dns.id"), 65_535, dns_collector.ABSENT),
        }

    def _path(self, path: str) -> str:
        return path.replace(".", self.between)


class _Nested(_Columns):
    def __call__(self, records: Records) -> dict[str, Any]:
        for path in _BEFORE:
            records.doubt(records.json(path).is_valid())
        return super().__call__(records)


class _Flat(_Columns):
    def __call__(self, records: Records) -> dict[str, Any]:
        _add_flat_answers(records, self._path("dns.resource_records.an"))
        return super().__call__(records)


COLUMNS = JsonColumns(
    dns_collector.PARSER,
    f.TABLE,
    Shape(_Record, whole=("dns.resource_records.an[]",), judge=_is_nested, decodes_all=True),
    _Nested("."),
    base={
        "dnstap.operation": '"CLIENT_RESPONSE"',
        "dnstap.timestamp": '"2026-01-01T00:00:00Z"',
        "dns.rcode": '"NOERROR"',
        "dns.qname": '"x"',
    },
    others=(
        JsonColumns(
            dns_collector.PARSER,
            f.TABLE,
            Shape(
                _FLAT_RECORD,
                foreign=("\\u00",),
                judge=_is_flat,
                decodes_all=True,
                never_null=("rdatatype",),
            ),
            _Flat("_"),
            base={
                "dnstap_operation": '"CLIENT_RESPONSE"',
                "dnstap_timestamp": '"2026-01-01T00:00:00Z"',
                "dns_rcode": '"NOERROR"',
                "dns_qname": '"x"',
            },
        ),
        dns_vector_columns.COLUMNS,
    ),
)
