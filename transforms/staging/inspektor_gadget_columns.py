"""Inspektor Gadget's `trace_dns` events by columns; the rules are those of `inspektor_gadget`.

Events of the built-in gadget, which has other names, are the row parser's, as are those that name
no pod, and multicast.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import inspektor_gadget as gadget
from transforms.staging import lookup_fields as f
from transforms.staging.column_rules import INTEGER, NUMBER
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.values import parse_instant

_BUILT_IN = frozenset({"pktType", "srcIP", "dstIP", "srcPort", "dstPort", "latency", "pod"})
_MOST_NANOSECONDS = 2**53
_NANOSECONDS = 1e9


def _has_columns(keys: tuple[str, ...]) -> bool:
    return _BUILT_IN.isdisjoint(keys)


def _address(stated: str) -> str | None:
    return f.address(stated, "client")


def _port(stated: object) -> int | None:
    return f.port(stated, "client")


def _nanoseconds(stated: object) -> int | None:
    return f.number(stated, _MOST_NANOSECONDS, "latency_ns_raw")


def _latencies(records: Records) -> pa.Array:
    measured = records.integers("latency_ns_raw", _nanoseconds, maximum=_MOST_NANOSECONDS)
    seconds = pc.divide(measured.cast(NUMBER), _NANOSECONDS)
    is_told = pc.and_(pc.greater(seconds, 0.0), pc.less_equal(seconds, f.MAX_LATENCY_SECONDS))
    return pc.if_else(is_told, seconds, pa.scalar(None, NUMBER))


def _columns(records: Records) -> dict[str, Any]:
    pod = "k8s.pod_name"
    records.need(pod)
    records.doubt(pc.equal(records.text(pod), ""))
    ports = {
        path: records.integers(path, _port, maximum=65_535) for path in ("src.port", "dst.port")
    }
    multicast = pa.array(sorted(f.MULTICAST_PORTS), INTEGER)
    for column in ports.values():
        records.doubt(pc.is_in(column, multicast))
    owner = tuple(f"dst.k8s.{name}" for name in ("kind", "name", "namespace"))
    client = tuple(f"k8s.{name}" for name in ("node", "namespace", "pod_name"))
    return {
        "event_at": records.instants("timestamp", parse_instant),
        **records.rows(
            ("qr", "pkt_type", "pkt_type_raw", *owner, *client, "node"),
            ("node", "client_namespace", "client_pod_name"),
            ("query", "resolver_side", "passing"),
        ),
        "client_address": records.addresses("dst.addr", _address),
        "client_port": ports["dst.port"],
        **records.rows(("nameserver", "src.addr"), ("resolver_address",)),
        **records.rows(("dst.proto", "src.proto"), ("transport",)),
        **records.rows(
            ("name", "rcode", "rcode_raw", "k8s.namespace"),
            ("query_name", "original_query_name", "rcode"),
        ),
        **records.rows(("qtype", "qtype_raw"), ("query_type",)),
        **records.rows(("addresses", "num_answers", "num_answers_before"), ("answers",)),
        "latency_seconds": _latencies(records),
        "is_response": True,
        "dns_message_id": records.one(gadget.message_id, "id", INTEGER),
    }


COLUMNS = JsonColumns(
    gadget.PARSER,
    f.TABLE,
    Shape(gadget.Event, judge=_has_columns),
    _columns,
    base={
        "timestamp": '"2026-01-01T00:00:00Z"',
        "qr": '"R"',
        "pkt_type": '"HOST"',
        "name": '"x"',
        "rcode": '"Success"',
        "k8s.pod_name": '"x"',
    },
)
