"""Rows of Kubernetes events, in the core spelling and in that of events.k8s.io."""

import re
from datetime import datetime
from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError
from transforms.staging.kubernetes_metadata import (
    LISTED,
    Count,
    Metadata,
    Sight,
    StatedTimes,
    object_record_id,
    observe,
    read_metadata,
    required,
    uid_text,
)
from transforms.staging.parser import FileContext, Row
from transforms.staging.stored_text import free_text, name_text

_FIELD_PATH = re.compile(
    r"spec\.(?:containers|initContainers|ephemeralContainers)\{([^{}]{1,253})\}\Z"
)


class Involved(msgspec.Struct, rename="camel"):
    """The object that an event is about."""

    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    field_path: str | None = None


class Source(msgspec.Struct):
    """Who saw the event."""

    component: str | None = None
    host: str | None = None


class Series(msgspec.Struct, rename="camel"):
    """Repetitions of an event."""

    count: Count | None = None
    last_observed_time: str | None = None


class KubeEvent(msgspec.Struct, rename="camel"):
    """An event; each pair of names is the core spelling and that of events.k8s.io."""

    metadata: Metadata | None = None
    involved_object: Involved | None = None
    regarding: Involved | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    source: Source | None = None
    deprecated_source: Source | None = None
    first_timestamp: str | None = None
    deprecated_first_timestamp: str | None = None
    last_timestamp: str | None = None
    deprecated_last_timestamp: str | None = None
    count: Count | None = None
    deprecated_count: Count | None = None
    type: str | None = None
    event_time: str | None = None
    series: Series | None = None
    reporting_component: str | None = None
    reporting_controller: str | None = None
    reporting_instance: str | None = None


KUBE_EVENT = msgspec.json.Decoder(KubeEvent)


def event_rows(
    event: KubeEvent,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
) -> tuple[Row, ...]:
    """Row of one observed state of an event.

    An event that a component repeats is one object whose count and last time move; the scheduler
    fills `eventTime` and leaves the older times empty.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = event.metadata or Metadata()
    uid = uid_text(required(metadata.uid, "uid", f"{item.path}.metadata.uid"))
    times = StatedTimes(item.path)
    first = times.read(event.first_timestamp, ".firstTimestamp")
    first = first or times.read(event.deprecated_first_timestamp, ".deprecatedFirstTimestamp")
    last = times.read(event.last_timestamp, ".lastTimestamp")
    last = last or times.read(event.deprecated_last_timestamp, ".deprecatedLastTimestamp")
    at = times.read(event.event_time, ".eventTime")
    series = event.series or Series()
    repeated = times.read(series.last_observed_time, ".series.lastObservedTime")
    happened = times.newest
    created = read_metadata(metadata, times)
    happened = happened or created
    if happened is None:
        raise no_event_time(item)
    observed = observe(context, times.newest, sight)
    involved = event.involved_object or event.regarding or Involved()
    source = event.source or event.deprecated_source or Source()
    reporter = event.reporting_component or event.reporting_controller or source.component
    node = source.host or (event.reporting_instance if reporter == "kubelet" else None)
    match = _FIELD_PATH.match(involved.field_path or "")
    values = {
        "record_id": object_record_id("Event", metadata, item, sight.watch_event, observed),
        "observed_at": observed.at,
        "event_at": happened,
        "event_uid": uid,
        "event_name": name_text(metadata.name),
        "namespace": name_text(involved.namespace or metadata.namespace),
        "involved_kind": name_text(involved.kind),
        "involved_name": name_text(involved.name),
        "involved_uid": name_text(uid_text(involved.uid)) if involved.uid else None,
        "field_path": name_text(involved.field_path),
        "container": name_text(match[1]) if match else None,
        "reason": free_text(event.reason),
        "message": free_text(event.message or event.note),
        "first_at": first or at,
        "last_at": _newest(last, repeated) or at,
        "event_count": event.count or series.count or event.deprecated_count or None,
        "event_type": name_text(event.type),
        "reporter": name_text(reporter),
        "node": name_text(node),
    }
    return (("kube_event_states", values),)


def no_event_time(item: Item) -> RecordError:
    """Reason to refuse an event that states no time at all."""
    return RecordError(f"no_time: expected {item.path}.lastTimestamp or eventTime, got none")


def _newest(*instants: datetime | None) -> Any:  # noqa: ANN401  an instant or null
    return max((i for i in instants if i is not None), default=None)
