"""What one Hubble line gives: rows of `flows`, `dns_lookups` and `loss_reports`, or a reason.

Decisions that a reader of the tables should know:

* A record's id is the event's `uuid`; without one (Cilium before 1.14, masked, aggregated, not a
  flow) it is a hash of the whole line, keyed where a redaction key is set. Where a mask removed the
  time or the node, equal lines are no sign of one event, so export, node and line number join it.
* `dns_lookups` gets one row per DNS response. A request gives a row only where the line itself says
  that no response follows: the proxy dropped it (policy) or failed to forward it. Other requests
  are the same look-up as their response line, or are lost with it. Records of the server's side
  (INGRESS) give none, as the client's side states the same look-up.
* Several protocols under `l4` are what field masks left before Cilium fixed them: transport and
  ports are then unknown.
* `is_reply` is taken from the old `reply` only where that is true: false and absent look alike.
* Retina's flows name their own reason of a drop where Cilium's enumeration has none; its counters
  are kept as stated, and are no volume: a packet may be reported at several points.
* An agent event gives a row where it names an address and its pod; others are ignored.
"""

from datetime import datetime
from typing import Any

from msgspec import structs

from transforms.staging import hubble_values as v
from transforms.staging.hubble_azure_rows import as_event
from transforms.staging.hubble_lines import (
    Endpoint,
    Envelope,
    EventType,
    Flow,
    Layer4,
    Layer7,
    LostEvents,
    NodeStatus,
    Ports,
    decode_bare_flow,
    decode_bare_lost_events,
    decode_line,
    decode_text,
    is_log_entry,
    is_present,
)
from transforms.staging.hubble_reader import is_part, shown_part
from transforms.staging.hubble_text import AGENT_LOG
from transforms.staging.json_records import rejected_masked
from transforms.staging.line_lineage import LineLineage
from transforms.staging.parser import FileContext, Parsed, RawRecord, Row
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.search_suffix import without_search_suffix
from transforms.staging.stored_text import name_text
from transforms.staging.values import INT64_MAX, identity

AGENT_EVENT_TYPE = 130
"""Monitor message type of agent events, which their lines leave out."""
DROPPED = "DROPPED"
RESPONSE, REQUEST = "RESPONSE", "REQUEST"
UNANSWERED = frozenset({DROPPED, "ERROR"})
"""Verdicts of a DNS request that the proxy did not answer or forward."""
TRANSPORTS = ("TCP", "UDP", "SCTP", "ICMPv4", "ICMPv6", "VRRP", "IGMP")
_BOM = b"\xef\xbb\xbf"
_ADDRESS_BITS = {".": 32, ":": 128}

SHOWN_KEYS = frozenset(
    {
        b"Type", b"UUID", b"destination", b"drop_reason_desc", b"first", b"ipVersion", b"kind",
        b"last", b"latency_ns", b"namespace", b"node_name", b"num_events_lost", b"pod_name",
        b"source", b"source_xlated", b"state_change", b"time", b"trace_observation_point",
        b"trace_reason", b"traffic_direction", b"type", b"uuid", b"verdict",
    }
)  # fmt: skip
"""Keys whose text an excerpt may show: no header, URL, label or summary is among them."""

Values = dict[str, Any]


def parse_line(raw: RawRecord, context: FileContext, lineage: LineLineage) -> Parsed:
    """Say what a line is; never raises.

    Args:
        raw: The line.
        context: What is known of the file.
        lineage: The lines of the file that say neither when nor where, up to this one.
    """
    try:
        rows, ignore = _read(raw, context, lineage)
    except RefusedError as error:
        return _refused(raw, error)
    return Parsed(raw.locator, raw.offset, raw.data, rows=rows, ignore=ignore)


def _refused(raw: RawRecord, error: RefusedError) -> Parsed:
    if raw.data.removeprefix(_BOM).lstrip()[:1] in {b"{", b"["} or not is_part(raw.data):
        return rejected_masked(raw, error, SHOWN_KEYS)
    # It begins anywhere: no text in it is known to be harmless.
    shown = shown_part(raw.data, SHOWN_KEYS)
    return Parsed(raw.locator, raw.offset, shown, reject=str(error))


def _read(
    raw: RawRecord, context: FileContext, lineage: LineLineage
) -> tuple[tuple[Row, ...], str | None]:
    line = decode_line(raw.data)
    payloads = [
        name
        for name, is_there in (
            ("flow", line.flow is not None),
            ("lost_events", line.lost_events is not None),
            ("agent_event", line.agent_event is not None),
            ("node_status", line.node_status is not None),
            ("debug_event", is_present(line.debug_event)),
        )
        if is_there
    ]
    if len(payloads) > 1:
        refuse("several_payloads", f"one of {' and '.join(payloads)}")
    if line.flow is not None:
        return _flow_rows(raw, context, lineage, line, line.flow, line.flow.time), None
    if not payloads:
        return _without_payload(raw, context, lineage, line)
    if payloads == ["debug_event"]:
        return (), "debug_event"
    at = v.instant(decode_text(line.time, "$.time"), "$.time")
    return _other_rows(raw, context, lineage, line, at)


def _without_payload(
    raw: RawRecord, context: FileContext, lineage: LineLineage, line: Envelope
) -> tuple[tuple[Row, ...], str | None]:
    """A row of a table, a bare flow, a kind of event that is not known yet, or no event at all."""
    event = as_event(raw.data)
    if event is not None:
        return _read(raw._replace(data=event), context, lineage)
    if is_present(line.num_events_lost):
        bare = structs.replace(line, lost_events=decode_bare_lost_events(raw.data))
        at = v.instant(decode_text(line.time, "$.time"), "$.time")
        try:
            return _other_rows(raw, context, lineage, bare, at)
        except RefusedError as error:
            raise RefusedError(str(error).replace(" $.lost_events.", " $.")) from None
    if any(map(is_present, (line.verdict, line.IP, line.l4, line.Type, line.event_type))):
        flow = decode_bare_flow(raw.data)
        try:
            return _flow_rows(raw, context, lineage, line, flow, flow.time), None
        except RefusedError as error:
            raise RefusedError(str(error).replace(" $.flow.", " $.")) from None
    if line.node_name and is_present(line.time):
        return (), "unknown_event"
    if is_log_entry(raw.data):
        return (), AGENT_LOG
    return refuse("no_event", "a flow or another event of Hubble")


def _other_rows(
    raw: RawRecord,
    context: FileContext,
    lineage: LineLineage,
    line: Envelope,
    at: datetime | None,
) -> tuple[tuple[Row, ...], str | None]:
    node = v.node_name(line.node_name)
    is_placed = at is not None and node is not None
    record_id = hash_of_line(raw, context, None if is_placed else lineage)
    node = node or _node_around(raw, context)
    if line.lost_events is not None:
        return (("loss_reports", _lost(line.lost_events, at, node, record_id)),), None
    if line.node_status is not None:
        rows = _unavailable(line.node_status, at, record_id)
        return rows, None if rows else "node_status"
    values = _agent_event(line, at, node, record_id)
    return ((("flows", values),), None) if values else ((), "agent_event")


def _flow_rows(
    raw: RawRecord,
    context: FileContext,
    lineage: LineLineage,
    line: Envelope,
    flow: Flow,
    time: str | None,
) -> tuple[Row, ...]:
    if time:
        at = v.instant(time, "$.flow.time")
    else:
        at = v.instant(decode_text(line.time, "$.time"), "$.time")
    node = v.node_name(flow.node_name) or v.node_name(line.node_name)
    uuid = v.event_id(flow.uuid, "$.flow.uuid")
    is_placed = at is not None and node is not None
    record_id = uuid or hash_of_line(raw, context, None if is_placed else lineage)
    values: Values = {
        "record_id": record_id,
        "event_at": at,
        "uuid": uuid,
        "node": node or _node_around(raw, context),
        "verdict": v.enum_name(flow.verdict, v.VERDICT, "$.flow.verdict"),
        "drop_reason": _drop_reason(flow),
        "direction": v.enum_name(flow.traffic_direction, v.DIRECTION, "$.flow.traffic_direction"),
        "is_reply": True if flow.is_reply is None and flow.reply else v.flag(flow.is_reply),
        "observation_point": v.enum_name(
            flow.trace_observation_point, v.OBSERVATION_POINT, "$.flow.trace_observation_point"
        ),
        "trace_reason": v.enum_name(flow.trace_reason, v.TRACE_REASON, "$.flow.trace_reason"),
        "source_names": v.dns_names(flow.source_names) or None,
        "destination_names": v.dns_names(flow.destination_names) or None,
        "denied_by": v.policies(flow.egress_denied_by, flow.ingress_denied_by),
        "proxy_port": v.number_not_zero(flow.proxy_port, "$.flow.proxy_port", v.PORT_MAX),
        "flow_count": v.flow_count(flow.aggregate, "$.flow.aggregate"),
    }
    extensions = bytes(flow.extensions)
    if extensions:
        more = v.retina(extensions, "$.flow.extensions")
        reason = more.pop("retina_drop_reason", None)
        if values["drop_reason"] is None and values["verdict"] == DROPPED:
            values["drop_reason"] = reason
        values.update(more)
    values.update(event_type(flow.event_type))
    _add_addresses(values, flow)
    _add_layer4(values, flow.l4)
    for side, end in (("source", flow.source), ("destination", flow.destination)):
        if end is not None:
            stated_end = endpoint(end, f"$.flow.{side}")
            values.update({f"{side}_{name}": value for name, value in stated_end.items()})
    for side, stated in (
        ("source", flow.source_service),
        ("destination", flow.destination_service),
    ):
        if stated is not None:
            values[f"{side}_service"] = v.service(stated.name, stated.namespace)
    values["is_masked"] = at is None or not any(map(values.get, ENDS))
    if flow.l7 is None:
        return (("flows", values),)
    _add_layer7(values, flow.l7)
    lookup = dns_lookup(values)
    return (("flows", values),) if lookup is None else (("flows", values), ("dns_lookups", lookup))


ENDS = tuple(
    f"{side}_{part}"
    for side in ("source", "destination")
    for part in ("address", "namespace", "pod_name", "pod_uid", "identity", "labels", "workload")
)
"""Columns that name an end of a flow."""


def _node_around(raw: RawRecord, context: FileContext) -> str | None:
    """The node that a wrapper names, else the path."""
    stated = raw.wrapper.node if raw.wrapper is not None else None
    return v.node_name(stated) or context.node


def _drop_reason(flow: Flow) -> str | None:
    name = v.enum_name(flow.drop_reason_desc, v.DROP_REASON, "$.flow.drop_reason_desc")
    code = v.number_not_zero(flow.drop_reason, "$.flow.drop_reason")
    return name or (str(code) if code else None)


def event_type(stated: EventType | None) -> Values:
    """The type; a sub type of 0 is left out by the exporter, so it is 0 where the type stands.

    Raises:
        RefusedError: One is no number.
    """
    if stated is None:
        return {}
    kind = v.number(stated.type, "$.flow.event_type.type")
    sub = v.number(stated.sub_type, "$.flow.event_type.sub_type")
    return {
        "event_type": kind,
        "event_sub_type": 0 if sub is None and kind is not None else sub,
    }


def _add_addresses(values: Values, flow: Flow) -> None:
    if flow.IP is None:
        return
    values["source_address"] = v.address(flow.IP.source, "$.flow.IP.source")
    values["source_xlated_address"] = v.address(flow.IP.source_xlated, "$.flow.IP.source_xlated")
    values["destination_address"] = v.address(flow.IP.destination, "$.flow.IP.destination")


def _add_layer4(values: Values, layer: Layer4 | None) -> None:
    if layer is None:
        return
    found = [name for name in TRANSPORTS if getattr(layer, name) is not None]
    ports: dict[str, tuple[int | None, int | None]] = {}
    headers: tuple[tuple[str, Ports | None], ...] = (
        ("TCP", layer.TCP),
        ("UDP", layer.UDP),
        ("SCTP", layer.SCTP),
    )
    for name, header in headers:
        if header is not None:
            path = f"$.flow.l4.{name}"
            ports[name] = (
                v.number_not_zero(header.source_port, f"{path}.source_port", v.PORT_MAX),
                v.number_not_zero(header.destination_port, f"{path}.destination_port", v.PORT_MAX),
            )
    if len(found) != 1:
        return
    values["transport"] = found[0]
    if found[0] in ports:
        values["source_port"], values["destination_port"] = ports[found[0]]
    if layer.TCP is not None:
        values["tcp_flags"] = v.tcp_flags(layer.TCP.flags)


def endpoint(end: Endpoint, path: str) -> Values:
    """One end of a flow, by the columns' names without the side.

    Raises:
        RefusedError: An id is no number.
    """
    return {
        "endpoint_id": v.number_not_zero(end.ID, f"{path}.ID"),
        "identity": v.number_not_zero(end.identity, f"{path}.identity"),
        "namespace": name_text(end.namespace),
        "pod_name": name_text(end.pod_name),
        "pod_uid": v.pod_uid(end.pod_uid),
        "labels": v.label_texts(end.labels),
        "workload": v.workload(end.workloads),
    }


def _add_layer7(values: Values, layer: Layer7) -> None:
    kind = v.enum_name(layer.type, v.L7_TYPE, "$.flow.l7.type")
    values["l7_type"] = kind
    values["latency_seconds"] = v.latency(
        v.number(layer.latency_ns, "$.flow.l7.latency_ns", INT64_MAX)
    )
    if layer.dns is not None:
        dns, path = layer.dns, "$.flow.l7.dns"
        ttl = v.number(dns.ttl, f"{path}.ttl")
        code = v.number(dns.rcode, f"{path}.rcode")
        aliases, hosts = v.dns_names(dns.cnames), v.addresses(dns.ips, f"{path}.ips")
        values["dns_query"] = v.dns_name(dns.query)
        values["dns_query_types"] = v.query_types(dns.qtypes, f"{path}.qtypes")
        if kind == RESPONSE:
            # Defaults are left out: no code is NOERROR, no time to live beside an answer is 0.
            if ttl is None and (aliases or hosts):
                ttl = 0
            values["dns_addresses"], values["dns_canonical_names"] = hosts, aliases
            values["dns_ttl_seconds"] = None if ttl == v.NO_ANSWER_TTL else ttl
            values["dns_rcode"] = code or 0
    if layer.http is not None:
        http, path = layer.http, "$.flow.l7.http"
        values["http_method"] = v.http_method(http.method, f"{path}.method")
        values["http_host"], values["http_path"] = v.url_parts(http.url or "")
        values["http_status"] = v.number_not_zero(http.code, f"{path}.code")


def dns_lookup(values: Values) -> Values | None:
    """The look-up that a row of `flows` states, if it states one.

    Args:
        values: The row, or those of its values that a DNS message has.

    Raises:
        RefusedError: The response code is none.
    """
    name, kind = values.get("dns_query"), values.get("l7_type")
    is_response = kind == RESPONSE
    is_unanswered = kind == REQUEST and values["verdict"] in UNANSWERED
    if not name or values["event_at"] is None or values["direction"] == "INGRESS":
        return None
    if not is_response and not is_unanswered:
        return None
    client, resolver = ("destination", "source") if is_response else ("source", "destination")
    types = values["dns_query_types"]
    row: Values = {
        "record_id": values["record_id"],
        "event_at": values["event_at"],
        "node": values["node"],
        "client_address": values.get(f"{client}_address"),
        "client_port": values.get(f"{client}_port"),
        "client_namespace": values.get(f"{client}_namespace"),
        "client_pod_name": values.get(f"{client}_pod_name"),
        "client_pod_uid": values.get(f"{client}_pod_uid"),
        "resolver_address": values.get(f"{resolver}_address"),
        "transport": values.get("transport"),
        "original_query_name": name,
        "query_type": types[0] if types else None,
        "is_response": is_response,
    }
    exists, alias = None, None
    if is_response:
        code = v.response_code(values["dns_rcode"], "$.flow.l7.dns.rcode")
        aliases = values["dns_canonical_names"]
        exists = {"NOERROR": True, "NXDOMAIN": False}.get(code)
        alias = aliases[0] if aliases else None
        row["rcode"] = code
        row["answers"] = v.dns_answers(aliases, values["dns_addresses"], values["dns_ttl_seconds"])
    row["query_name"] = without_search_suffix(
        name, exists=exists, namespace=row["client_namespace"], alias=alias
    )
    return row


def _lost(lost: LostEvents, at: datetime | None, node: str | None, record_id: str) -> Values:
    path = "$.lost_events"
    first = v.instant(lost.first, f"{path}.first")
    last = v.instant(lost.last, f"{path}.last")
    has_interval = first is not None and last is not None and first < last
    return {
        "record_id": record_id,
        "source": "flows",
        "node": node,
        "event_at": at,
        "start_at": first if has_interval else None,
        "end_at": last if has_interval else None,
        "lost_count": v.number(lost.num_events_lost, f"{path}.num_events_lost", INT64_MAX),
        "kind": "lost",
        "reason": v.enum_name(lost.source, v.LOST_EVENT_SOURCE, f"{path}.source"),
    }


def _unavailable(status: NodeStatus, at: datetime | None, record_id: str) -> tuple[Row, ...]:
    """What Relay lost with a node: a row per node, or one for all where it names none."""
    state = v.enum_name(status.state_change, v.NODE_STATE, "$.node_status.state_change")
    if state is None or state == "NODE_CONNECTED":
        return ()
    nodes: list[str | None] = [
        node for name in status.node_names or () if (node := v.node_name(name))
    ]
    return tuple(
        (
            "loss_reports",
            {
                "record_id": record_id,
                "source": "flows",
                "node": node,
                "event_at": at,
                "kind": "lost",
                "reason": state,
            },
        )
        for node in nodes or [None]
    )


def _agent_event(
    line: Envelope, at: datetime | None, node: str | None, record_id: str
) -> Values | None:
    event = line.agent_event
    if event is None:
        return None
    kind = v.enum_name(event.type, v.AGENT_EVENT, "$.agent_event.type")
    update = event.ipcache_update
    if kind is None or update is None or not update.pod_name:
        return None
    path = "$.agent_event.ipcache_update"
    host = _host_of(update.cidr, f"{path}.cidr")
    if host is None:
        return None
    return {
        "record_id": record_id,
        "event_at": at,
        "node": node,
        "event_type": AGENT_EVENT_TYPE,
        "source_address": host,
        "source_identity": v.number_not_zero(update.identity, f"{path}.identity"),
        "source_namespace": name_text(update.namespace),
        "source_pod_name": name_text(update.pod_name),
        "agent_event": kind,
        "is_masked": at is None,
    }


def _host_of(cidr: str | None, path: str) -> str | None:
    """The address of a prefix that holds one host only."""
    text, slash, bits = (cidr or "").partition("/")
    host = v.address(text, path)
    if host is None or not slash:
        return host
    whole = _ADDRESS_BITS[":" if ":" in text else "."]
    length = v.number(bits, path, whole)
    return host if length == whole else None


def hash_of_line(raw: RawRecord, context: FileContext, lineage: LineLineage | None) -> str:
    """Id of a record that has none of its own.

    Args:
        raw: Its line.
        context: What is known of the file.
        lineage: For a line that does not say when and where.
    """
    text = raw.data.strip().decode("utf-8", "replace")
    if lineage is not None:
        text = chr(31).join((context.export, context.node or chr(30), lineage.of(raw, text)))
    return context.key_hash.of(text) or identity(text)
