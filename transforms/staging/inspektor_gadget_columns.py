"""Inspektor Gadget's `trace_dns` events by columns; the rules are those of `inspektor_gadget`.

Events of the built-in gadget, which has other names, are a form of their own. Those that name no
pod, and multicast, are the row parser's.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import inspektor_gadget as gadget
from transforms.staging import lookup_fields as f
from transforms.staging.column_rules import INSTANT, INTEGER, NUMBER, TEXT
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.values import parse_instant

_BUILT_IN = frozenset({"pktType", "srcIP", "dstIP", "srcPort", "dstPort", "latency", "pod"})
_NEW = frozenset({"src", "dst", "k8s", "pkt_type", "latency_ns_raw", "num_answers"})
_MOST_NANOSECONDS = 2**53
_NANOSECONDS = 1e9
_COUNT = r"^(?:[1-9][0-9]{17}|[1-8][0-9]{18})$"
"""Nanoseconds since 1970, of which a host does not run as many."""


def _has_columns(keys: tuple[str, ...]) -> bool:
    return _BUILT_IN.isdisjoint(keys)


def _is_built_in(keys: tuple[str, ...]) -> bool:
    return _NEW.isdisjoint(keys)


def _address(stated: str) -> str | None:
    return f.address(stated, "client")


def _port(stated: object) -> int | None:
    return f.port(stated, "client")


def _nanoseconds(stated: object) -> int | None:
    return f.number(stated, _MOST_NANOSECONDS, "latency_ns_raw")


def _times(records: Records) -> pa.Array:
    """Times, as texts or as nanoseconds since 1970, whichever the first record has."""
    stated = records.checked("timestamp")
    is_count = pc.match_substring_regex(stated, _COUNT)
    if not len(stated) or not is_count[0].as_py():
        return records.instants("timestamp", parse_instant)
    records.doubt(pc.invert(pc.fill_null(is_count, False)))
    count = pc.if_else(is_count, stated, pa.scalar(None, TEXT)).cast(INTEGER)
    return pc.divide(count, 1_000).cast(INSTANT)


@dataclass(frozen=True)
class _Columns:
    """Columns of one form, by the paths of its values.

    Attributes:
        pod: The pod.
        namespace: Its namespace.
        kept: What tells whether an event is left out, and which pod it is of.
        address: Address of the client.
        port: Its port.
        other_port: Port of the resolver.
        resolver: Address of the resolver: as stated, and of the packet's source.
        transport: Transport.
        answers: Addresses, and how many answers there are.
        latency: Nanoseconds until the response.
    """

    pod: str
    namespace: str
    kept: tuple[str, ...]
    address: str
    port: str
    other_port: str
    resolver: tuple[str, ...]
    transport: tuple[str, ...]
    answers: tuple[str, ...]
    latency: str

    def __call__(self, records: Records) -> dict[str, Any]:
        records.need(self.pod)
        records.doubt(pc.equal(records.text(self.pod), ""))
        ports = {
            path: records.integers(path, _port, maximum=65_535)
            for path in (self.port, self.other_port)
        }
        multicast = pa.array(sorted(f.MULTICAST_PORTS), INTEGER)
        for column in ports.values():
            records.doubt(pc.is_in(column, multicast))
        return {
            "event_at": _times(records),
            **records.rows(
                self.kept,
                ("node", "client_namespace", "client_pod_name"),
                ("query", "resolver_side", "passing"),
            ),
            "client_address": records.addresses(self.address, _address),
            "client_port": ports[self.port],
            **records.rows(self.resolver, ("resolver_address",)),
            **records.rows(self.transport, ("transport",)),
            **records.rows(
                ("name", "rcode", "rcode_raw", self.namespace),
                ("query_name", "original_query_name", "rcode"),
            ),
            **records.rows(("qtype", "qtype_raw"), ("query_type",)),
            **records.rows(self.answers, ("answers",)),
            "latency_seconds": self._latencies(records),
            "is_response": True,
            "dns_message_id": records.one(gadget.message_id, "id", INTEGER),
        }

    def _latencies(self, records: Records) -> pa.Array:
        measured = records.integers(self.latency, _nanoseconds, maximum=_MOST_NANOSECONDS)
        seconds = pc.divide(measured.cast(NUMBER), _NANOSECONDS)
        is_told = pc.and_(pc.greater(seconds, 0.0), pc.less_equal(seconds, f.MAX_LATENCY_SECONDS))
        return pc.if_else(is_told, seconds, pa.scalar(None, NUMBER))


COLUMNS = JsonColumns(
    gadget.PARSER,
    f.TABLE,
    Shape(gadget.Event, judge=_has_columns),
    _Columns(
        pod="k8s.pod_name",
        namespace="k8s.namespace",
        kept=(
            "qr", "pkt_type", "pkt_type_raw", "dst.k8s.kind", "dst.k8s.name", "dst.k8s.namespace",
            "k8s.node", "k8s.namespace", "k8s.pod_name", "node",
        ),
        address="dst.addr",
        port="dst.port",
        other_port="src.port",
        resolver=("nameserver", "src.addr"),
        transport=("dst.proto", "src.proto"),
        answers=("addresses", "num_answers", "num_answers_before"),
        latency="latency_ns_raw",
    ),
    base={
        "timestamp": '"2026-01-01T00:00:00Z"',
        "qr": '"R"',
        "pkt_type": '"HOST"',
        "name": '"x"',
        "rcode": '"Success"',
        "k8s.pod_name": '"x"',
    },
    others=(
        JsonColumns(
            gadget.PARSER,
            f.TABLE,
            Shape(gadget.Event, judge=_is_built_in),
            _Columns(
                pod="pod",
                namespace="namespace",
                kept=("qr", "pkt_type_before", "pkt_type_raw", "node", "namespace", "pod"),
                address="dst_ip",
                port="dst_port",
                other_port="src_port",
                resolver=("nameserver", "src_ip"),
                transport=("protocol",),
                answers=("addresses", "num_answers_before"),
                latency="latency",
            ),
            base={
                "timestamp": '"2026-01-01T00:00:00Z"',
                "qr": '"R"',
                "pkt_type_before": '"HOST"',
                "name": '"x"',
                "rcode": '"NoError"',
                "pod": '"x"',
            },
        ),
    ),
)  # fmt: skip
