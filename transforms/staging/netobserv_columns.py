"""NetObserv's flows by columns; the rules are those of `netobserv`.

What an end of a flow is called repeats from flow to flow; only ports, bytes and times differ. A
flow that tells of a look-up has a row of it beside that of its bytes (netobserv_lookups.py).
"""

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import lookup_fields as f
from transforms.staging import netobserv
from transforms.staging import volume_fields as v
from transforms.staging.column_rules import INSTANT, INTEGER, NUMBER
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.netobserv_flow import Flow
from transforms.staging.netobserv_lookups import SIDES, Seen, add_lookups
from transforms.staging.netobserv_volumes import MAX_INTERVAL, MAX_RTT_SECONDS

_OF_END = (
    "type", "name", "namespace", "owner_type", "owner_name", "host", "host_address", "zone",
    "otel_type", "otel_name", "otel_namespace", "otel_uid", "otel_owner_type", "otel_owner_name",
    "otel_host", "otel_host_address", "otel_zone",
)  # fmt: skip
_COLUMNS_OF_END = ("namespace", "pod_name", "pod_uid", "workload", "node", "zone")
_OF_OBSERVER = ("host", "host_address", "otel_host", "otel_host_address")
_OF_KIND = ("type", "otel_type", "subnet")


def _address(stated: str) -> str | None:
    return f.address(stated, "address")


def _octets(stated: object) -> int | None:
    return v.octets(stated, "number")


def _port(stated: object) -> int | None:
    return v.port(stated, "port")


def _instants(records: Records, path: str) -> pa.Array:
    """Times in milliseconds since 1970; what is none, or not plainly one, is in doubt."""
    records.need(path)
    found = records.integers(path, _octets)
    records.doubt(pc.greater(found, v.MOST_MILLISECONDS))
    bounded = pc.min_element_wise(found, v.MOST_MILLISECONDS)
    return pc.multiply(bounded, 1_000).cast(INSTANT)


def _round_trips(records: Records) -> pa.Array:
    nanoseconds = records.integers("round_trip_ns", _octets)
    is_told = pc.and_(
        pc.greater(nanoseconds, 0), pc.less_equal(nanoseconds, MAX_RTT_SECONDS * 10**9)
    )
    told = pc.if_else(is_told, nanoseconds, pa.scalar(None, INTEGER))
    return pc.divide(told.cast(NUMBER), 1e9)


def _stated(records: Records, end: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Paths of an end that any record has."""
    return tuple(f"{end}_{name}" for name in names if records.is_stated(f"{end}_{name}"))


def _end(records: Records, end: str) -> dict[str, Any]:
    places = {}
    for prefix in (end, f"{end}_xlated"):
        address, port = f"{prefix}_address", f"{prefix}_port"
        places[address] = records.addresses(address, _address)
        places[port] = records.integers(port, _port, maximum=65_535)
    for what in ("address", "port"):
        # The agent repeats what it did not translate.
        name = f"{end}_xlated_{what}"
        is_same = pc.fill_null(pc.equal(places[name], places[f"{end}_{what}"]), False)
        places[name] = pc.if_else(is_same, pa.scalar(None, places[name].type), places[name])
    names = tuple(f"{end}_{name}" for name in _COLUMNS_OF_END)
    return {**places, **records.rows(_stated(records, end, _OF_END), names)}


def _columns(records: Records) -> dict[str, Any]:
    octets = records.integers("octets", _octets)
    # Whether a flow without bytes is left out, or refused, the row parser says.
    records.doubt(pc.fill_null(pc.equal(octets, 0), True))
    start_at, end_at = (
        _instants(records, "time_flow_start_ms"),
        _instants(records, "time_flow_end_ms"),
    )
    length = pc.subtract(end_at, start_at).cast(INTEGER)
    longest = MAX_INTERVAL // timedelta(microseconds=1)
    records.doubt(pc.or_(pc.less(length, 0), pc.greater(length, longest)))
    ends = {**_end(records, "source"), **_end(records, "destination")}
    observers = tuple(
        path for end in ("source", "destination") for path in _stated(records, end, _OF_OBSERVER)
    )
    kinds = tuple(
        path for end in ("source", "destination") for path in _stated(records, end, _OF_KIND)
    )
    kind = records.rows(("is_duplicate", "protocol", *kinds), ("repeats", "transport"))
    overlays = pa.array(sorted(v.OVERLAY_PORTS), INTEGER)
    is_overlay = pc.is_in(ends["destination_port"], overlays)
    records.doubt(pc.and_(is_overlay, pc.equal(kind["transport"], "UDP")))
    packets = records.integers("packets", _octets)
    add_lookups(
        records,
        Seen(
            end_at,
            packets,
            {name: ends[name] for name in SIDES},
            _stated(records, "source", _OF_END),
            _stated(records, "destination", _OF_END),
        ),
    )
    return {
        "start_at": start_at,
        "end_at": end_at,
        "flow_id": records.names("hash_id"),
        **ends,
        **kind,
        "bytes": octets,
        "packets": packets,
        "dropped_bytes": records.integers("dropped_octets", _octets),
        **records.rows(("flags",), ("tcp_flags",)),
        **records.rows(("interfaces", "interface"), ("interfaces",)),
        "round_trip_seconds": _round_trips(records),
        **records.rows(
            ("sampling",),
            ("sampling_interval", "sampled_unit", "scaled", "temporality", "byte_layer"),
        ),
        **records.rows(
            ("agent_address", "flow_direction", *observers), ("node", "reporter", "flow_direction")
        ),
        **records.rows(("record_type",), (), ("connection",)),
    }


COLUMNS = JsonColumns(
    netobserv.PARSER,
    v.TABLE,
    Shape(Flow),
    _columns,
    base={
        "time_flow_start_ms": "1773111719500",
        "time_flow_end_ms": "1773111719507",
        "octets": "1",
    },
)
