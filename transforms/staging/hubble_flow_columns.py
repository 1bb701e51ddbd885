"""Columns of `flows` from columns of raw flows: the rules of the line reader, once per value.

What a rule of `hubble_rows` decides by several fields of one record (time and node from the
envelope, one protocol only, defaults of a DNS response, masked lines) is decided here for all rows
at once where that is simple, and left in doubt where it is not: those rows are read from their
lines.
"""

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import hubble_values as v
from transforms.staging.column_rules import (
    FLAG,
    INSTANT,
    INTEGER,
    NUMBER,
    TEXT,
    TEXTS,
    Columns,
    Doubts,
    Rule,
    Rules,
    choose,
    fields,
    instants,
    numbers,
    texts,
)
from transforms.staging.hubble_lines import (
    Aggregate,
    Endpoint,
    EventType,
    Policy,
    Service,
    TcpFlags,
    Wrapped,
)
from transforms.staging.hubble_rows import DROPPED, ENDS, RESPONSE, TRANSPORTS, endpoint, event_type
from transforms.staging.values import INT64_MAX

_EXACT_FLOAT = 2**53
_UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"

_services: "msgspec.json.Decoder[Service | None]" = msgspec.json.Decoder(Service | None)
_endpoints: "msgspec.json.Decoder[Endpoint | None]" = msgspec.json.Decoder(Endpoint | None)
_event_types: "msgspec.json.Decoder[EventType | None]" = msgspec.json.Decoder(EventType | None)
_flags: "msgspec.json.Decoder[TcpFlags | None]" = msgspec.json.Decoder(TcpFlags | None)
_policies: "msgspec.json.Decoder[list[Policy] | None]" = msgspec.json.Decoder(list[Policy] | None)
_aggregates: "msgspec.json.Decoder[Aggregate | None]" = msgspec.json.Decoder(Aggregate | None)
_replies_stated: "msgspec.json.Decoder[bool | Wrapped | None]" = msgspec.json.Decoder(
    bool | Wrapped | None
)
_booleans: "msgspec.json.Decoder[bool | None]" = msgspec.json.Decoder(bool | None)


def _service(text: str) -> str | None:
    service = _services.decode(text)
    return v.service(service.name, service.namespace) if service else None


def _endpoint(text: str) -> dict[str, Any]:
    end = _endpoints.decode(text)
    return endpoint(end, "") if end else {}


_ENDPOINT = Rules(
    _endpoint,
    {
        "endpoint_id": INTEGER,
        "identity": INTEGER,
        "namespace": TEXT,
        "pod_name": TEXT,
        "pod_uid": TEXT,
        "labels": TEXTS,
        "workload": TEXT,
    },
)
_EVENT_TYPE = Rules(
    lambda text: event_type(_event_types.decode(text)),
    {"event_type": INTEGER, "event_sub_type": INTEGER},
)
_EVENT_ID = Rule(lambda text: v.event_id(text, ""), TEXT)
_TIME = Rule(lambda text: v.instant(text, ""), INSTANT)
_NODE = Rule(v.node_name, TEXT)
_DNS_NAME = Rule(v.dns_name, TEXT)
_ADDRESS = Rule(lambda text: v.address(text, ""), TEXT, is_text=False)
_QUERY_TYPE = Rule(lambda text: v.query_types([text], "")[0], TEXT)
_METHOD = Rule(lambda text: v.http_method(text, ""), TEXT)
_HOST = Rule(lambda text: v.url_parts(text)[0], TEXT)
_PATH = Rule(lambda text: v.url_parts(text)[1], TEXT)
_VERDICT, _DIRECTION, _POINT, _REASON, _DROP, _L7_TYPE = (
    Rule(lambda text, kind=kind: v.enum_name(text, kind, ""), TEXT, is_text=False)  # type: ignore[misc]
    for kind in (
        v.VERDICT,
        v.DIRECTION,
        v.OBSERVATION_POINT,
        v.TRACE_REASON,
        v.DROP_REASON,
        v.L7_TYPE,
    )
)
_DROP_CODE = Rule(
    lambda text: str(code) if (code := v.number_not_zero(text, "")) else None, TEXT, is_text=False
)
_NUMBER = Rule(lambda text: v.number(text, ""), INTEGER, is_text=False)
_NUMBER_NOT_ZERO = Rule(lambda text: v.number_not_zero(text, ""), INTEGER, is_text=False)
_PORT = Rule(lambda text: v.number_not_zero(text, "", v.PORT_MAX), INTEGER, is_text=False)
_LONG = Rule(lambda text: v.number(text, "", INT64_MAX), INTEGER, is_text=False)
_SERVICE = Rule(_service, TEXT, is_text=False)
_FLAGS = Rule(lambda text: v.tcp_flags(_flags.decode(text)), TEXT, is_text=False)
_POLICIES = Rule(lambda text: v.policies(_policies.decode(text)), TEXTS, is_text=False)
_COUNT = Rule(lambda text: v.flow_count(_aggregates.decode(text), ""), INTEGER, is_text=False)
_BOOLEAN = Rule(_booleans.decode, FLAG, is_text=False)
_IS_REPLY = Rule(lambda text: v.flag(_replies_stated.decode(text)), FLAG, is_text=False)
_RETINA = Rules(
    lambda text: v.retina(text.encode(), ""),
    {**dict.fromkeys(v.RETINA_COUNTERS, INTEGER), "retina_drop_reason": TEXT},
)


def flow_columns(batch: pa.RecordBatch, doubts: Doubts) -> Columns:
    """Read a batch of raw flows.

    Args:
        batch: What `hubble_columns.sql` gives.
        doubts: Where rows are noted that must be read from their lines; their values mean nothing.

    Returns:
        The columns of `flows` by name, without provenance; `record_id` is the event's uuid and null
        without one. `node` is null where the line names none.
    """
    flow = fields(batch.column("flow"))
    out: Columns = {
        "uuid": _uuids(flow["uuid"], doubts),
        "event_at": _times(flow["time"], batch.column("envelope_time"), doubts),
        "node": choose(
            _NODE.apply(flow["node_name"], doubts),
            _NODE.apply(batch.column("envelope_node_name"), doubts),
        ),
        "verdict": _VERDICT.apply(flow["verdict"], doubts),
        "drop_reason": choose(
            _DROP.apply(flow["drop_reason_desc"], doubts),
            _DROP_CODE.apply(flow["drop_reason"], doubts),
        ),
        "direction": _DIRECTION.apply(flow["traffic_direction"], doubts),
        "is_reply": _replies(flow, doubts),
        "observation_point": _POINT.apply(flow["trace_observation_point"], doubts),
        "trace_reason": _REASON.apply(flow["trace_reason"], doubts),
        "source_names": texts(flow["source_names"], _DNS_NAME, doubts),
        "destination_names": texts(flow["destination_names"], _DNS_NAME, doubts),
        "denied_by": _denied_by(flow, doubts),
        "proxy_port": numbers(
            flow["proxy_port"], _PORT, doubts, maximum=v.PORT_MAX, zero_is_null=True
        ),
        "flow_count": _COUNT.apply(flow["aggregate"], doubts),
        "agent_event": pa.nulls(len(batch), TEXT),
        "destination_xlated_address": pa.nulls(len(batch), TEXT),
        "is_masked": pa.repeat(pa.scalar(False), len(batch)),
    }
    out["record_id"] = out["uuid"]
    _add_extensions(out, flow["extensions"], doubts)
    out.update(_EVENT_TYPE.apply(flow["event_type"], doubts))
    _add_addresses(out, flow, doubts)
    _add_layer4(out, fields(flow["l4"]), flow["l4"], doubts)
    for side in ("source", "destination"):
        for name, column in _ENDPOINT.apply(flow[side], doubts).items():
            out[f"{side}_{name}"] = column
        out[f"{side}_service"] = _SERVICE.apply(flow[f"{side}_service"], doubts)
    _add_layer7(out, flow["l7"], doubts)
    _doubt_masked(out, doubts)
    return out


def _add_extensions(out: Columns, column: pa.Array, doubts: Doubts) -> None:
    """What Retina adds; its reason of a drop counts where the flow names none."""
    stated = _RETINA.apply(column, doubts)
    reason = stated.pop("retina_drop_reason")
    out.update(stated)
    if reason.null_count < len(reason):
        is_used = pc.and_(out["drop_reason"].is_null(), pc.equal(out["verdict"], DROPPED))
        chosen = pc.if_else(pc.fill_null(is_used, False), reason, out["drop_reason"])
        out["drop_reason"] = chosen


def _uuids(column: pa.Array, doubts: Doubts) -> pa.Array:
    """Event ids: nearly all are UUIDs, and no two are equal."""
    if column.null_count < len(column) and pc.all(pc.match_substring_regex(column, _UUID)).as_py():
        return column
    return _EVENT_ID.apply(column, doubts)


def _times(column: pa.Array, envelope: pa.Array, doubts: Doubts) -> pa.Array:
    if envelope.null_count < len(envelope):
        column = pc.if_else(pc.fill_null(pc.not_equal(column, ""), False), column, envelope)
    return instants(column, _TIME, doubts)


def _replies(flow: Columns, doubts: Doubts) -> pa.Array:
    stated = _IS_REPLY.apply(flow["is_reply"], doubts)
    legacy = _BOOLEAN.apply(flow["reply"], doubts)
    if stated.null_count == 0 or legacy.null_count == len(legacy):
        return stated
    return choose(stated, pc.if_else(legacy, True, pa.scalar(None, FLAG)))


def _denied_by(flow: Columns, doubts: Doubts) -> pa.Array:
    egress = _POLICIES.apply(flow["egress_denied_by"], doubts)
    ingress = _POLICIES.apply(flow["ingress_denied_by"], doubts)
    if ingress.null_count == len(ingress):
        return egress
    doubts.note(pc.and_(egress.is_valid(), ingress.is_valid()))
    return pc.if_else(ingress.is_valid(), ingress, egress)


def _add_addresses(out: Columns, flow: Columns, doubts: Doubts) -> None:
    stated = fields(flow["IP"])
    out["source_address"] = _ADDRESS.apply(stated["source"], doubts)
    out["source_xlated_address"] = _ADDRESS.apply(stated["source_xlated"], doubts)
    out["destination_address"] = _ADDRESS.apply(stated["destination"], doubts)


def _add_layer4(out: Columns, layer: Columns, column: pa.Array, doubts: Doubts) -> None:
    """Transport and ports; more than one protocol is left in doubt."""
    count = len(column)
    transport = pa.nulls(count, TEXT)
    sources, destinations = pa.nulls(count, TEXT), pa.nulls(count, TEXT)
    flags = pa.nulls(count, TEXT)
    for name in TRANSPORTS:
        header = layer[name]
        if header.null_count == count:
            continue
        is_set = header.is_valid()
        doubts.note(pc.and_(is_set, transport.is_valid()))
        transport = pc.if_else(is_set, pa.scalar(name, TEXT), transport)
        stated = fields(header)
        if "source_port" in stated:
            sources = choose(sources, stated["source_port"])
            destinations = choose(destinations, stated["destination_port"])
        if "flags" in stated:
            flags = _FLAGS.apply(stated["flags"], doubts)
    out["transport"], out["tcp_flags"] = transport, flags
    for side, ports in (("source", sources), ("destination", destinations)):
        out[f"{side}_port"] = numbers(ports, _PORT, doubts, maximum=v.PORT_MAX, zero_is_null=True)


_LAYER7: dict[str, Any] = {
    "l7_type": TEXT,
    "latency_seconds": NUMBER,
    "dns_query": TEXT,
    "dns_query_types": TEXTS,
    "dns_addresses": TEXTS,
    "dns_canonical_names": TEXTS,
    "dns_ttl_seconds": INTEGER,
    "dns_rcode": INTEGER,
    "http_method": TEXT,
    "http_host": TEXT,
    "http_path": TEXT,
    "http_status": INTEGER,
}


def _add_layer7(out: Columns, column: pa.StructArray, doubts: Doubts) -> None:
    out.update({name: pa.nulls(len(column), kind) for name, kind in _LAYER7.items()})
    if column.null_count == len(column):
        return
    stated = fields(column)
    out["l7_type"] = _L7_TYPE.apply(stated["type"], doubts)
    latency = numbers(stated["latency_ns"], _LONG, doubts, maximum=INT64_MAX)
    if latency.null_count < len(latency):
        doubts.note(pc.greater(latency, _EXACT_FLOAT))
        out["latency_seconds"] = pc.divide(latency.cast(NUMBER, safe=False), 1e9)
    if stated["dns"].null_count < len(column):
        _add_dns(out, stated["dns"], doubts)
    http = fields(stated["http"])
    out["http_method"] = _METHOD.apply(http["method"], doubts)
    out["http_host"] = _HOST.apply(http["url"], doubts)
    out["http_path"] = _PATH.apply(http["url"], doubts)
    out["http_status"] = numbers(
        http["code"], _NUMBER_NOT_ZERO, doubts, maximum=v.UINT32_MAX, zero_is_null=True
    )


def _add_dns(out: Columns, column: pa.StructArray, doubts: Doubts) -> None:
    """DNS columns; a request that holds answers is left in doubt."""
    stated = fields(column)
    is_dns = column.is_valid()
    is_response = pc.and_(is_dns, pc.fill_null(pc.equal(out["l7_type"], RESPONSE), False))
    out["dns_query"] = _DNS_NAME.apply(stated["query"], doubts)
    out["dns_query_types"] = texts(stated["qtypes"], _QUERY_TYPE, doubts, valid=is_dns)
    out["dns_addresses"] = texts(stated["ips"], _ADDRESS, doubts, valid=is_response)
    out["dns_canonical_names"] = texts(stated["cnames"], _DNS_NAME, doubts, valid=is_response)
    ttl = numbers(stated["ttl"], _NUMBER, doubts, maximum=v.UINT32_MAX)
    code = numbers(stated["rcode"], _NUMBER, doubts, maximum=v.UINT32_MAX)
    for answer in (stated["ips"], stated["cnames"], ttl, code):
        doubts.note(pc.and_(answer.is_valid(), pc.invert(is_response)))
    has_answer = pc.greater(
        pc.add(
            pc.fill_null(pc.list_value_length(stated["ips"]), 0),
            pc.fill_null(pc.list_value_length(stated["cnames"]), 0),
        ),
        0,
    )
    no_number = pa.scalar(None, INTEGER)
    ttl = pc.if_else(pc.and_(ttl.is_null(), has_answer), pa.scalar(0, INTEGER), ttl)
    ttl = pc.if_else(pc.equal(ttl, v.NO_ANSWER_TTL), no_number, ttl)
    out["dns_ttl_seconds"] = pc.if_else(is_response, ttl, no_number)
    out["dns_rcode"] = pc.if_else(is_response, pc.fill_null(code, 0), no_number)


def _doubt_masked(out: Columns, doubts: Doubts) -> None:
    """Doubt rows without a time or without any end: a field mask made them."""
    if out["event_at"].null_count:
        doubts.note(out["event_at"].is_null())
    if not out["source_address"].null_count:
        return
    nameless = out[ENDS[0]].is_null()
    for name in ENDS[1:]:
        nameless = pc.and_(nameless, out[name].is_null())
    doubts.note(nameless)
