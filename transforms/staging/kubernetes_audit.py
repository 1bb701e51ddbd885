"""Kubernetes audit log: the states that requests to the API server left behind.

Sources: the audit.k8s.io/v1 reference, the auditing page of the Kubernetes documentation, and the
API server's generic registry. A file holds one `Event` per line (log back end) or `EventList`
documents (webhook back end).

Read are requests that changed something and succeeded, once they are complete, where the event
holds the whole object: the response at level `RequestResponse`, or the request of an update at
level `Request`. The object was so when the request ended (`stageTimestamp`), and that is when its
state was observed. Everything else is left out by rule, with the reason:

`stage` not the end of a request · `read_request` changes nothing · `other_resource`,
`other_subresource` nothing that a table holds; bodies of secrets and config maps are never decoded
· `denied`, `failed` changed nothing · `dry_run` changed nothing · `truncated` the back end dropped
the body · `no_object` the level, or the request, gives no whole object. A pod's state needs its UID
and its creation, so that a deletion at level `Metadata`, a binding or an eviction gives no row; the
patches of the kubelet and the scheduler that follow hold the same facts.

A pod's deletion answers with the pod: it is gone only where no grace period and no finalizer is
left, else it begins to end. A deleted policy answers with its name alone, which is kept.

Somebody's session in a container (`pods/exec`, `pods/attach`: `kubectl exec`, a console's shell) is
a stage mark `terminal_session`, once it is over: from `requestReceivedTimestamp` to
`stageTimestamp` of `ResponseComplete`, which the API server writes when the connection closes. It
answers 101. Which container is the request's `container`; without it that the pod has one. The
kubelet's own probes do not pass the API server. What was typed is not kept.

Users, groups, tokens, addresses and bodies of requests are not kept.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items, whole_record_id
from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.kubernetes_metadata import Metadata, Sight, StatedTimes
from transforms.staging.kubernetes_objects import TABLES, reader
from transforms.staging.kubernetes_policies import Policy, PolicyMetadata, policy_rows
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row
from transforms.staging.values import identity

GROUP = "audit.k8s.io/"
_LAST_STAGES = frozenset({"ResponseComplete", "Panic"})
_CHANGES = {
    "create": "ADDED",
    "update": "MODIFIED",
    "patch": "MODIFIED",
    "delete": "DELETED",
    "deletecollection": "DELETED",
}
KINDS = {
    ("", "pods"): "Pod",
    ("", "nodes"): "Node",
    ("", "services"): "Service",
    ("", "namespaces"): "Namespace",
    ("", "events"): "Event",
    ("events.k8s.io", "events"): "Event",
    ("networking.k8s.io", "networkpolicies"): "NetworkPolicy",
    ("extensions", "networkpolicies"): "NetworkPolicy",
    ("resource.k8s.io", "resourceclaims"): "ResourceClaim",
    ("resource.k8s.io", "resourceclaimtemplates"): "ResourceClaimTemplate",
    ("cilium.io", "ciliumnetworkpolicies"): "CiliumNetworkPolicy",
    ("cilium.io", "ciliumclusterwidenetworkpolicies"): "CiliumClusterwideNetworkPolicy",
}
_POLICIES = frozenset({"NetworkPolicy", "CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"})
_SUBRESOURCES = frozenset(
    {"", "status", "binding", "eviction", "ephemeralcontainers", "resize", "finalize"}
)
SESSION = "terminal_session"
"""Activity of somebody who opened a shell, or ran a command, in a container."""
_SESSIONS = frozenset({"exec", "attach"})
_OPENS = frozenset({"create", "get"})
"""By POST for SPDY, by GET for WebSockets."""
_SWITCHED = 101
_CONTAINER = re.compile(r"[?&]container=([a-z0-9-]{1,63})(?:&|$)")
_DENIED = frozenset({401, 403})
_NOTHING_SHOWN: frozenset[bytes] = frozenset()
"""Any key may stand in the data of a secret, so that excerpts show no text at all."""


class Reference(msgspec.Struct, rename="camel"):
    """The object that was asked for."""

    resource: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    api_group: str | None = None
    api_version: str | None = None
    subresource: str | None = None


class ResponseStatus(msgspec.Struct):
    """How it was answered."""

    code: int | None = None


class Event(msgspec.Struct, rename={"audit_id": "auditID", "request_uri": "requestURI",
                                     "api_version": "apiVersion", "object_ref": "objectRef",
                                     "response_status": "responseStatus",
                                     "request_object": "requestObject",
                                     "response_object": "responseObject",
                                     "received": "requestReceivedTimestamp",
                                     "ended": "stageTimestamp"}):  # fmt: skip
    """One audit event."""

    kind: str | None = None
    api_version: str | None = None
    audit_id: str | None = None
    stage: str | None = None
    request_uri: str | None = None
    verb: str | None = None
    object_ref: Reference | None = None
    response_status: ResponseStatus | None = None
    request_object: msgspec.Raw = msgspec.Raw()
    response_object: msgspec.Raw = msgspec.Raw()
    received: str | None = None
    ended: str | None = None
    annotations: dict[str, str] | None = None


class _Details(msgspec.Struct):
    uid: str | None = None


class _Body(msgspec.Struct, rename="camel"):
    """What a body is; of a Status also what it is about."""

    kind: str | None = None
    api_version: str | None = None
    metadata: msgspec.Raw = msgspec.Raw()
    items: msgspec.Raw = msgspec.Raw()
    status: msgspec.Raw = msgspec.Raw()
    details: _Details | None = None


_EVENT = msgspec.json.Decoder(Event)
_BODY: "msgspec.json.Decoder[_Body | None]" = msgspec.json.Decoder(_Body | None)
_METADATA: "msgspec.json.Decoder[Metadata | None]" = msgspec.json.Decoder(Metadata | None)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw] | None]" = msgspec.json.Decoder(
    list[msgspec.Raw] | None
)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    return parse_items(records, context, _read, _NOTHING_SHOWN, list_key="items")


def _read(item: Item, context: FileContext) -> tuple[Row, ...] | str:
    event = decode(_EVENT, item.data, item.path)
    if not is_event(event):
        message = f"no_audit_event: expected an Event of audit.k8s.io at {item.path}, got another"
        raise RecordError(message)
    reference = event.object_ref or Reference()
    kind = KINDS.get((reference.api_group or "", reference.resource or ""))
    word = left_out(event, kind, reference)
    if word is not None:
        return word
    if _is_session(kind, reference):
        values = _session(event, item, reference)
        return (("stage_marks", {**values, "record_id": _record_id(event, item)}),)
    at = _ended_at(event, item)
    change = _CHANGES[event.verb or ""]
    rows = [
        row
        for body, sight in _bodies(event, item, kind or "", Sight(change, True, at))
        for row in _rows(body, context, sight, kind or "", reference)
    ]
    if not rows and change == "DELETED" and kind in _POLICIES:
        rows = list(_deleted_policy(event, item, context, kind or "", Sight(change, True, at)))
    if not rows:
        is_cut = (event.annotations or {}).get("audit.k8s.io/truncated") == "true"
        return "truncated" if is_cut else "no_object"
    record_id = _record_id(event, item)
    return tuple((table, {**values, "record_id": record_id}) for table, values in rows)


def _record_id(event: Event, item: Item) -> str:
    if event.audit_id:
        return identity("audit", event.audit_id, event.stage)
    return whole_record_id(item)


def is_event(event: Event) -> bool:
    """Whether a record is an audit event; items of an EventList leave their kind out."""
    is_stated = event.kind == "Event" and (event.api_version or "").startswith(GROUP)
    is_item = event.kind is None and event.api_version is None and event.audit_id is not None
    return is_stated or is_item


def left_out(event: Event, kind: str | None, reference: Reference) -> str | None:
    """The word for which an event is left out; none where its object may be read."""
    code = event.response_status.code if event.response_status else None
    if event.stage not in _LAST_STAGES:
        return "stage"
    if _is_session(kind, reference):
        return _left_out_session(event, code)
    if event.verb not in _CHANGES:
        return "read_request"
    if kind is None:
        return "other_resource"
    if (reference.subresource or "") not in _SUBRESOURCES:
        return "other_subresource"
    decision = (event.annotations or {}).get("authorization.k8s.io/decision")
    if decision == "forbid" or code in _DENIED:
        return "denied"
    if event.stage == "Panic" or (code is not None and not 200 <= code < 300):
        return "failed"
    return "dry_run" if "dryRun=" in (event.request_uri or "") else None


def _is_session(kind: str | None, reference: Reference) -> bool:
    return kind == "Pod" and reference.subresource in _SESSIONS


def _left_out_session(event: Event, code: int | None) -> str | None:
    if event.verb not in _OPENS:
        return "other_subresource"
    decision = (event.annotations or {}).get("authorization.k8s.io/decision")
    if decision == "forbid" or code in _DENIED:
        return "denied"
    is_open = code == _SWITCHED or (code is not None and 200 <= code < 300)
    return None if is_open and event.stage != "Panic" else "failed"


def _session(event: Event, item: Item, reference: Reference) -> dict[str, Any]:
    """The stage mark of a session in a container that is over."""
    ended = _ended_at(event, item)
    received = StatedTimes(item.path).read(event.received, ".requestReceivedTimestamp")
    container = _CONTAINER.search(event.request_uri or "")
    elapsed = (ended - received).total_seconds() if received is not None else None
    return {
        "event_at": ended,
        "namespace": reference.namespace,
        "pod_name": reference.name,
        "pod_uid": (reference.uid or "").lower() or None,
        "container": container[1] if container else None,
        "event_name": f"{SESSION}.finished",
        "activity": SESSION,
        "phase": "end",
        "elapsed_seconds": elapsed if elapsed is None or elapsed >= 0 else None,
        "basis": "event",
    }


def _ended_at(event: Event, item: Item) -> datetime:
    times = StatedTimes(item.path)
    received = times.read(event.received, ".requestReceivedTimestamp")
    ended = times.read(event.ended, ".stageTimestamp")
    at = ended or received
    if at is None:
        message = f"no_time: expected {item.path}.stageTimestamp, got none"
        raise RecordError(message)
    return at


def _bodies(event: Event, item: Item, kind: str, sight: Sight) -> Iterator[tuple[Item, Sight]]:
    """Whole objects that an event holds, and how each was seen."""
    response = item.part(".responseObject", bytes(event.response_object) or b"null")
    body = decode(_BODY, response.data, response.path)
    is_request = body is None and event.verb == "update"
    if is_request:
        response = item.part(".requestObject", bytes(event.request_object) or b"null")
        body = decode(_BODY, response.data, response.path)
    if body is None:
        return
    if body.kind == f"{kind}List" and bytes(body.items):
        parts = decode(_ITEMS, bytes(body.items), f"{response.path}.items") or []
        for index, data in enumerate(parts):
            part = response.part(f".items[{index}]", bytes(data))
            inner = decode(_BODY, part.data, part.path)
            if inner is not None:
                yield part, _changed(inner, part, kind, sight)
    elif body.kind in {kind, None} and bytes(body.metadata):
        yield response, _changed(body, response, kind, sight)


def _changed(body: _Body, item: Item, kind: str, sight: Sight) -> Sight:
    """What a deletion did: an object is gone where nothing holds it back any more."""
    if sight.watch_event != "DELETED":
        return sight
    metadata = decode(_METADATA, bytes(body.metadata) or b"null", f"{item.path}.metadata")
    if metadata is None or metadata.finalizers or (kind == "Namespace"):
        return sight._replace(watch_event="MODIFIED")
    is_gone = metadata.deletion_timestamp is None or metadata.deletion_grace_period_seconds == 0
    return sight if is_gone else sight._replace(watch_event="MODIFIED")


def _rows(
    item: Item, context: FileContext, sight: Sight, kind: str, reference: Reference
) -> tuple[Row, ...]:
    body = decode(_BODY, item.data, item.path)
    stated = body.api_version if body else None
    group, version = reference.api_group or "", reference.api_version or "v1"
    read = reader(kind, stated or (f"{group}/{version}" if group else version))
    return read(item, context, sight) if read is not None else ()


def _deleted_policy(
    event: Event, item: Item, context: FileContext, kind: str, sight: Sight
) -> tuple[Row, ...]:
    """Row of a policy of which the answer says only that it is gone."""
    reference = event.object_ref or Reference()
    if not reference.name or event.verb != "delete":
        return ()
    path = f"{item.path}.responseObject"
    body = decode(_BODY, bytes(event.response_object) or b"null", path)
    details = body.details if body is not None and body.details else _Details()
    metadata = PolicyMetadata(
        name=reference.name,
        namespace=reference.namespace,
        uid=details.uid or reference.uid,
    )
    version = f"{reference.api_group or ''}/{reference.api_version or ''}"
    return policy_rows(
        Policy(metadata=metadata),
        item,
        context,
        sight,
        kind=kind,
        api_version=version,
    )


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return Recognition(0)
    version = value.get("apiVersion")
    if not isinstance(version, str) or not version.startswith(GROUP):
        return _recognise_bare_list(value)
    return {
        "Event": Recognition(3, "audit events"),
        "EventList": Recognition(3, "audit EventList"),
    }.get(str(value.get("kind")), Recognition(0))


def _recognise_bare_list(value: dict[str, Any]) -> Recognition:
    """A list whose own kind stands behind its items."""
    items = value.get("items")
    first = items[0] if isinstance(items, list) and items else None
    is_event = isinstance(first, dict) and {"auditID", "stage"} <= first.keys()
    return Recognition(3, "audit EventList") if is_event and "kind" not in value else Recognition(0)


PARSER = Parser(
    name="kubernetes_audit",
    title="Kubernetes audit log",
    tables=(*TABLES, "stage_marks"),
    shape="json",
    record="One audit event: an item of an `EventList`, or a line.",
    cannot_tell=(
        "What changed below level `RequestResponse` (of updates `Request`); who asked; deletions, "
        "bindings and evictions that answer without the object; what was typed in a terminal, and "
        "one that is still open; traffic."
    ),
    recognise=_recognise,
    parse=_parse,
    version=4,
    optional_columns=(
        "pod_states.addresses", "pod_states.sandbox_ready_at", "container_states.image_digest",
    ),
)  # fmt: skip
