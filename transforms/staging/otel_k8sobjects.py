"""Kubernetes objects and events that the OpenTelemetry collector writes as logs (OTLP JSON).

Sources: opentelemetry-collector-contrib, receiver/k8sobjectsreceiver (unstructured_to_logdata.go)
and receiver/k8seventsreceiver (k8s_event_to_logdata.go); opentelemetry-proto, logs.proto. The file
exporter writes one `LogsData` document per line.

k8sobjects: the body of a log record is the object, where it lists (`pull`), or the change
`{"type": …, "object": …}`, where it watches; the resource's plural stands in `k8s.resource.name`.
The object was so when the collector saw it (`observedTimeUnixNano`, else `timeUnixNano`). A body
that is text is read where it is JSON, as processors write it.

k8s_events: the body is the message, everything else an attribute of the record or of the resource.
The receiver gives one newest time, so that the first time of a repeated event is not known.

Log records of applications may stand in the same files; they are ignored as `other_log`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.kubernetes_events import (
    Involved,
    KubeEvent,
    Source,
    event_rows,
)
from transforms.staging.kubernetes_metadata import Metadata, Sight
from transforms.staging.kubernetes_objects import HEAD, TABLES, change_record, object_record
from transforms.staging.otlp_log_records import LogRecord, log_records
from transforms.staging.otlp_values import (
    instant_of_nanoseconds,
    pairs_of,
    plain,
)
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import RefusedError, refuse
from transforms.staging.values import INT64_MAX, identity

_SCOPES = ("k8sobjectsreceiver", "k8seventsreceiver")
_EVENT_MARKS = frozenset({"k8s.event.uid", "k8s.event.reason"})
_GO_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) ([+-]\d{4})(?: \S+)?\Z")
_TYPES = {"warn": "Warning", "warning": "Warning", "info": "Normal", "normal": "Normal"}


class _LogRecord(msgspec.Struct, rename="camel"):
    time_unix_nano: int | str | None = None
    observed_time_unix_nano: int | str | None = None
    severity_text: str | None = None
    body: dict[str, Any] | None = None
    attributes: list[Any] | None = None


_LOG_RECORD = msgspec.json.Decoder(_LogRecord)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    own = replace(context, path_at=None)
    for raw in records:
        for document in documents(raw):
            for record in log_records(document):
                if isinstance(record, LogRecord):
                    yield _parse_record(record.item, record.resource, own)
                else:
                    yield record


def _parse_record(item: Item, resource: list[Any] | None, context: FileContext) -> Parsed:
    try:
        record = decode(_LOG_RECORD, item.data, item.path)
        attributes = pairs_of(record.attributes)
        happened_at = instant_of_nanoseconds(record.time_unix_nano)
        seen_at = instant_of_nanoseconds(record.observed_time_unix_nano) or happened_at
        sight = Sight(has_own_time=True, at=seen_at)
        if _EVENT_MARKS & attributes.keys():
            shared = pairs_of(resource)
            event = _event(record, attributes, shared, happened_at)
            ((table, row),) = event_rows(event, item, context, sight)
            # The event's version is not among the attributes; its count moves with it.
            stated = (row[name] for name in ("event_uid", "event_count", "event_at", "observed_at"))
            return item.accepted(((table, row | {"record_id": identity("k8s_events", *stated)}),))
        body = _object(record)
        if body is None:
            return item.ignored("other_log")
        inner = Item(item.locator, f"{item.path}.body", None, body)
        head = decode(HEAD, inner.data, inner.path)
        if bytes(head.object) and head.kind is None:
            return change_record(inner, head, context, sight)
        return object_record(inner, context, sight=sight)
    except (RecordError, RefusedError) as error:
        return item.rejected(error)


def _object(record: _LogRecord) -> bytes | None:
    """JSON of the object or change that a body holds; null where it holds another thing."""
    body = plain(record.body)
    if isinstance(body, str):
        text = body.lstrip()
        return body.encode("utf-8", "replace") if text[:1] == "{" and _holds_object(text) else None
    if not isinstance(body, dict):
        return None
    is_object = isinstance(body.get("kind"), str) and "apiVersion" in body
    is_change = isinstance(body.get("type"), str) and isinstance(body.get("object"), dict)
    return msgspec.json.encode(body) if is_object or is_change else None


def _holds_object(text: str) -> bool:
    try:
        value = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(value, dict) and ({"kind", "apiVersion"} <= value.keys() or (
        {"type", "object"} <= value.keys() and isinstance(value["object"], dict)
    ))  # fmt: skip


def _event(
    record: _LogRecord,
    own: dict[str, Any],
    shared: dict[str, Any],
    happened_at: datetime | None,
) -> KubeEvent:
    """The event that a record of the k8s_events receiver says."""
    message = plain(record.body)
    count = own.get("k8s.event.count")
    if count is not None and (
        isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= INT64_MAX
    ):
        refuse("wrong_value", "a number of times", count)
    severity = (record.severity_text or "").lower()
    return KubeEvent(
        metadata=Metadata(
            name=_text(own, "k8s.event.name"),
            uid=_text(own, "k8s.event.uid"),
            namespace=_text(own, "k8s.namespace.name"),
            creation_timestamp=_go_time(_text(own, "k8s.event.start_time")),
        ),
        involved_object=Involved(
            kind=_text(shared, "k8s.object.kind"),
            namespace=_text(own, "k8s.namespace.name"),
            name=_text(shared, "k8s.object.name"),
            uid=_text(shared, "k8s.object.uid"),
            field_path=_text(shared, "k8s.object.fieldpath"),
        ),
        reason=_text(own, "k8s.event.reason"),
        message=message if isinstance(message, str) else None,
        source=Source(host=_text(shared, "k8s.node.name")),
        last_timestamp=happened_at.isoformat() if happened_at else None,
        count=count,
        type=_TYPES.get(severity, record.severity_text),
    )


def _text(values: dict[str, Any], key: str) -> str | None:
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        refuse("wrong_value", "a text", value)
    return value or None


def _go_time(text: str | None) -> str | None:
    """A time as Go prints it (`2026-03-10 06:00:07 +0000 UTC`), as RFC 3339 has it."""
    match = _GO_TIME.match(text) if text else None
    return f"{match[1]}T{match[2]}{match[3]}" if match else text


# -- recognition ---------------------------------------------------------------------------------


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    found = value.get("resourceLogs") if isinstance(value, dict) else None
    if not isinstance(found, list):
        return Recognition(0)
    for scope in _dicts(r.get("scopeLogs") for r in _dicts([found])):
        named = scope.get("scope")
        name = named.get("name") if isinstance(named, dict) else None
        if isinstance(name, str) and name.endswith(_SCOPES):
            return Recognition(3, "collector logs of Kubernetes objects")
        for record in _dicts([scope.get("logRecords")]):
            if _is_of_kubernetes(record):
                return Recognition(3, "collector logs of Kubernetes objects")
    return Recognition(0)


def _dicts(lists: Iterable[object]) -> Iterator[dict[str, Any]]:
    for entries in lists:
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield entry


def _is_of_kubernetes(record: dict[str, Any]) -> bool:
    keys = {str(entry.get("key")) for entry in _dicts([record.get("attributes")])}
    if keys & {"k8s.resource.name", *_EVENT_MARKS}:
        return True
    body = record.get("body")
    values = body.get("kvlistValue") if isinstance(body, dict) else None
    listed = values.get("values") if isinstance(values, dict) else None
    names = {str(entry.get("key")) for entry in _dicts([listed])}
    return {"apiVersion", "kind", "metadata"} <= names or {"type", "object"} == names


PARSER = Parser(
    name="otel_k8sobjects",
    title="Kubernetes objects and events as logs of the OpenTelemetry collector (OTLP JSON)",
    tables=TABLES,
    shape="json",
    record="One log record: an object, a change of one, or an event.",
    cannot_tell=(
        "Changes between two pulls; of the k8s_events receiver, the first time of a repeated event."
    ),
    recognise=_recognise,
    parse=_parse,
    version=3,
    optional_columns=(
        "pod_states.watch_event", "pod_states.sandbox_ready_at", "kube_event_states.field_path",
    ),
)  # fmt: skip
