"""Lines of a Hubble export as typed values: the messages of Cilium's `flow` and `observer` protos.

Source: api/v1/flow/flow.proto and api/v1/observer/observer.proto, Cilium 1.8 to 1.19, written by
protojson with proto names: snake case, enums by name (a number where the exporter does not know the
name), 64 bit integers as text, defaults left out, wrapper types (`is_reply`) present when false.
Programs that read events and write them again use protojson's own names (`nodeName`), or write
`is_reply` as the message that it is (`{"value": true}`); both are read alike.

Only the fields that are used are declared, so only they can be wrong: headers, `Summary`, node
labels, extensions and whatever a newer Cilium adds are passed over unread. JSON null means absent,
as in protojson. Where a key stands twice, the last one counts.
"""

import re
from typing import Literal, TypeVar, cast

import msgspec

from transforms.staging.json_records import RecordError
from transforms.staging.json_records import decode as decode_json
from transforms.staging.refusal import RefusedError

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
Number = int | str | None
"""An unsigned integer, or its decimal digits as text: protojson readers take both."""
Enum = str | int | None
"""An enum value by name or number."""

_BOM = b"\xef\xbb\xbf"
_ABSENT = msgspec.Raw()
_RETINA_TYPE = b"utils.RetinaMetadata"
_OTHER_NAME = Literal["no value is this text"] | None
"""Type of a field under its other name: whatever stands there is refused, which costs nothing where
the other name is not used. The line is then read again with the names of the proto."""
_OTHER = "other_"
_PROTO_NAMES: dict[bytes, bytes] = {}
"""The proto's names by the names that protojson gives them."""


def other_names(struct: type[msgspec.Struct]) -> list[tuple[str, object, object]]:
    """Fields that stand for the fields of a message under the names that protojson gives them."""
    found: list[tuple[str, object, object]] = []
    for name in struct.__struct_fields__:
        if name.startswith(_OTHER):
            continue
        head, *words = name.split("_")
        other = head + "".join(word.capitalize() for word in words)
        if words:
            _PROTO_NAMES[other.encode()] = name.encode()
            place = msgspec.field(default=None, name=other)
            found.append((f"{_OTHER}{name}", _OTHER_NAME, place))
    return found


def _both_names(struct: type[S]) -> type[S]:
    """Let a message refuse its fields under the names that protojson gives them."""
    named = msgspec.defstruct(
        struct.__name__, other_names(struct), bases=(struct,), module=__name__, gc=False
    )
    named.__doc__ = struct.__doc__
    return cast("type[S]", named)


class Workload(msgspec.Struct, gc=False):
    """A workload that owns a local endpoint."""

    name: str | None = None
    kind: str | None = None


@_both_names
class Endpoint(msgspec.Struct, gc=False):
    """One end of a flow as the observing node's agent knows it.

    `pod_uid` is the name that the pull request gives (merged after 1.20); not seen in a real line.
    """

    ID: Number = None
    identity: Number = None
    namespace: str | None = None
    pod_name: str | None = None
    pod_uid: str | None = None
    labels: list[str] | None = None
    workloads: list[Workload] | None = None


class Service(msgspec.Struct, gc=False):
    """A Kubernetes service whose frontend an address and port are."""

    name: str | None = None
    namespace: str | None = None


class TcpFlags(msgspec.Struct, gc=False):
    """TCP flags; only set ones are written."""

    FIN: bool | None = None
    SYN: bool | None = None
    RST: bool | None = None
    PSH: bool | None = None
    ACK: bool | None = None
    URG: bool | None = None
    ECE: bool | None = None
    CWR: bool | None = None
    NS: bool | None = None


@_both_names
class Ports(msgspec.Struct, gc=False):
    """UDP or SCTP header."""

    source_port: Number = None
    destination_port: Number = None


class Tcp(Ports, gc=False):
    """TCP header; L7 and socket events have no flags."""

    flags: TcpFlags | None = None


class Portless(msgspec.Struct, gc=False):
    """A header of which only the presence counts."""


class Layer4(msgspec.Struct, gc=False):
    """At most one protocol is set in a whole record; a field mask can leave several (empty)."""

    TCP: Tcp | None = None
    UDP: Ports | None = None
    SCTP: Ports | None = None
    ICMPv4: Portless | None = None
    ICMPv6: Portless | None = None
    VRRP: Portless | None = None
    IGMP: Portless | None = None


@_both_names
class Ip(msgspec.Struct, gc=False):
    """IP header."""

    source: str | None = None
    destination: str | None = None
    source_xlated: str | None = None


class Dns(msgspec.Struct, gc=False):
    """DNS message: a request has the question only."""

    query: str | None = None
    ips: list[str] | None = None
    ttl: Number = None
    cnames: list[str] | None = None
    rcode: Number = None
    qtypes: list[str] | None = None


class Http(msgspec.Struct, gc=False):
    """HTTP message; its headers are not read."""

    code: Number = None
    method: str | None = None
    url: str | None = None


@_both_names
class Layer7(msgspec.Struct, gc=False):
    """Message that the L7 proxy saw."""

    type: Enum = None
    latency_ns: Number = None
    dns: Dns | None = None
    http: Http | None = None


@_both_names
class EventType(msgspec.Struct, gc=False):
    """Kind of the monitor event."""

    type: Number = None
    sub_type: Number = None


class Policy(msgspec.Struct, gc=False):
    """A network policy that decided."""

    name: str | None = None
    namespace: str | None = None
    kind: str | None = None


@_both_names
class Aggregate(msgspec.Struct, gc=False):
    """Counters of an aggregated export; a zero is left out."""

    ingress_flow_count: Number = None
    egress_flow_count: Number = None
    unknown_direction_flow_count: Number = None


class Wrapped(msgspec.Struct, gc=False):
    """A wrapper type that was written as the message that it is."""

    value: bool = False


@_both_names
class RetinaMetadata(msgspec.Struct, gc=False):
    """What Microsoft Retina adds to a flow, as `extensions` of type `utils.RetinaMetadata`.

    Source: microsoft/retina:pkg/utils/metadata_linux.proto and flow_utils.go. `bytes` is the size
    of the packet; the `previously_observed_` counters are of packets of its connection that were
    not reported. Other extensions have other types, and say nothing here.
    """

    bytes: Number = None
    previously_observed_bytes: Number = None
    previously_observed_packets: Number = None
    drop_reason: Enum = None


@_both_names
class Flow(msgspec.Struct, gc=False):
    """One observed packet, L7 message or socket call."""

    time: str | None = None
    uuid: str | None = None
    node_name: str | None = None
    verdict: Enum = None
    drop_reason: Number = None
    drop_reason_desc: Enum = None
    traffic_direction: Enum = None
    is_reply: bool | Wrapped | None = None
    reply: bool | None = None
    event_type: EventType | None = None
    trace_observation_point: Enum = None
    trace_reason: Enum = None
    IP: Ip | None = None
    l4: Layer4 | None = None
    source: Endpoint | None = None
    destination: Endpoint | None = None
    source_service: Service | None = None
    destination_service: Service | None = None
    source_names: list[str] | None = None
    destination_names: list[str] | None = None
    l7: Layer7 | None = None
    egress_denied_by: list[Policy] | None = None
    ingress_denied_by: list[Policy] | None = None
    proxy_port: Number = None
    aggregate: Aggregate | None = None
    extensions: msgspec.Raw = _ABSENT


@_both_names
class LostEvents(msgspec.Struct, gc=False):
    """Events that were lost before Hubble saw them; the interval since Cilium 1.19."""

    source: Enum = None
    num_events_lost: Number = None
    first: str | None = None
    last: str | None = None


@_both_names
class NodeStatus(msgspec.Struct, gc=False):
    """What Hubble Relay says of its nodes."""

    state_change: Enum = None
    node_names: list[str] | None = None


@_both_names
class IpcacheUpdate(msgspec.Struct, gc=False):
    """An address and whose it is."""

    cidr: str | None = None
    identity: Number = None
    namespace: str | None = None
    pod_name: str | None = None


@_both_names
class AgentEvent(msgspec.Struct, gc=False):
    """What the agent did."""

    type: Enum = None
    ipcache_update: IpcacheUpdate | None = None


@_both_names
class Envelope(msgspec.Struct, gc=False):
    """One line: `ExportEvent` of the file exporter or `GetFlowsResponse` of `hubble observe`.

    `time` stands here and in a flow; it is read only where the flow has none. The last six fields
    tell a bare flow, or a bare report of lost events, which the command line before 0.11 printed
    without an envelope.
    """

    flow: Flow | None = None
    lost_events: LostEvents | None = None
    agent_event: AgentEvent | None = None
    node_status: NodeStatus | None = None
    debug_event: msgspec.Raw = _ABSENT
    node_name: str | None = None
    time: msgspec.Raw = _ABSENT
    verdict: msgspec.Raw = _ABSENT
    IP: msgspec.Raw = _ABSENT
    l4: msgspec.Raw = _ABSENT
    Type: msgspec.Raw = _ABSENT
    event_type: msgspec.Raw = _ABSENT
    num_events_lost: msgspec.Raw = _ABSENT


class Typed(msgspec.Struct, gc=False):
    """A message of any type, which is named beside it."""

    type: msgspec.Raw = msgspec.field(default=_ABSENT, name="@type")


class LogEntry(msgspec.Struct, gc=False):
    """A line of an agent's log, which stands among the events where they go to `stdout`."""

    level: str | None = None
    msg: str | None = None


_ENVELOPE: "msgspec.json.Decoder[Envelope]" = msgspec.json.Decoder(Envelope)
_FLOW: "msgspec.json.Decoder[Flow]" = msgspec.json.Decoder(Flow)
_LOST: "msgspec.json.Decoder[LostEvents]" = msgspec.json.Decoder(LostEvents)
_LOG: "msgspec.json.Decoder[LogEntry]" = msgspec.json.Decoder(LogEntry)
_RETINA: "msgspec.json.Decoder[RetinaMetadata]" = msgspec.json.Decoder(RetinaMetadata)
_TYPED: "msgspec.json.Decoder[Typed]" = msgspec.json.Decoder(Typed)
_TEXT: "msgspec.json.Decoder[str | None]" = msgspec.json.Decoder(str | None)


def decode_line(data: bytes) -> Envelope:
    """Read a line.

    Raises:
        RefusedError: It is no JSON object or a value is of the wrong type; the reason has the path.
    """
    if not data.isascii():
        # Texts that are passed over are not checked by the decoder.
        try:
            data.decode()
        except UnicodeDecodeError as error:
            message = "invalid_json: expected UTF-8"
            raise RefusedError(message, at=error.start) from None
    return _decode(_ENVELOPE, data, "$")


def decode_bare_flow(data: bytes) -> Flow:
    """Read a line as a flow without an envelope.

    Raises:
        RefusedError: A value is of the wrong type.
    """
    return _decode(_FLOW, data, "$")


def decode_bare_lost_events(data: bytes) -> LostEvents:
    """Read a line as a report of lost events without an envelope.

    Raises:
        RefusedError: A value is of the wrong type.
    """
    return _decode(_LOST, data, "$")


def decode_retina(data: bytes, path: str) -> RetinaMetadata | None:
    """Read the extensions of a flow; none where they are not Retina's.

    Raises:
        RefusedError: A value of Retina's is of the wrong type.
    """
    if _RETINA_TYPE not in data:
        return None
    try:
        stated = bytes(_TYPED.decode(data).type)
    except msgspec.DecodeError:
        return None
    if not stated.endswith(b"/" + _RETINA_TYPE + b'"'):
        return None
    return _decode(_RETINA, with_proto_names(data), path)


def is_log_entry(data: bytes) -> bool:
    """Whether a JSON object is a line of a log."""
    try:
        entry = _decode(_LOG, data, "$")
    except RefusedError:
        return False
    return entry.level is not None and entry.msg is not None


def decode_text(data: msgspec.Raw, path: str) -> str | None:
    """Read a value that was left undecoded as text; none where the key is absent.

    Raises:
        RefusedError: It is no text.
    """
    text = bytes(data)
    return _decode(_TEXT, text, path) if text else None


def is_present(value: msgspec.Raw) -> bool:
    """Whether a key stands there with a value other than null."""
    return bytes(value) not in {b"", b"null"}


def _decode(decoder: "msgspec.json.Decoder[T]", data: bytes, path: str) -> T:
    text = data.removeprefix(_BOM)
    try:
        return decode_json(decoder, text, path)
    except RecordError as error:
        reason, at = str(error), error.at
    if at is None and (renamed := with_proto_names(text)) != text:
        try:
            return decode_json(decoder, renamed, path)
        except RecordError as error:
            reason = str(error)
    if path == "$" and reason.startswith("wrong_type:") and reason.endswith(" at $"):
        reason = "not_an_object: expected one JSON object"
    if path != "$" or at is None:
        raise RefusedError(reason)
    raise RefusedError(reason, at=at + len(data) - len(text))


_LONGEST_FIRST: list[bytes] = sorted(_PROTO_NAMES, key=len, reverse=True)
_OTHER_KEY = re.compile(rb'"(' + b"|".join(_LONGEST_FIRST) + rb')"(?=\s*+:)')


def with_proto_names(text: bytes) -> bytes:
    """A line with the proto's names in place of those that protojson gives them.

    What looks like a key inside a text does not match, as its quotes are escaped there.
    """
    return _OTHER_KEY.sub(lambda match: b'"' + _PROTO_NAMES[match[1]] + b'"', text)
