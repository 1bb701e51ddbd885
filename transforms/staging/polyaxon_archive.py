"""Records of `outputs/spec.json`: the pods of a run as its sidecar last saw them, with events.

The archive is rewritten at each sync, so that its pods may still run in it. Its events have lost
their uid, container, reporter and, if the scheduler wrote them, their time.
"""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.kubernetes_metadata import Count, Observed, Sight, StatedTimes
from transforms.staging.kubernetes_pods import POD, pod_rows
from transforms.staging.parser import FileContext, Parsed, Row
from transforms.staging.run_identity import run_of_folder
from transforms.staging.stored_text import free_text, name_text
from transforms.staging.values import identity

_POD_NAME = re.compile(r"[a-z0-9.-]{1,63}\Z")
"""Names that stand in a locator; others are told by their place."""


class Archive(msgspec.Struct):
    """The archive: pods and services by name."""

    pods: dict[str, msgspec.Raw] | None = None
    services: dict[str, msgspec.Raw] | None = None


class _Events(msgspec.Struct):
    events: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
    type: str | None = None
    count: Count | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None


ARCHIVE = msgspec.json.Decoder(Archive)
_EVENTS = msgspec.json.Decoder(_Events)
_EVENT = msgspec.json.Decoder(_Event)


def archive_records(document: Item, context: FileContext) -> Iterator[Parsed]:
    """One result per pod and per event; services are another kind.

    Raises:
        RecordError: The archive has not the shape of one.
    """
    archive = decode(ARCHIVE, document.data, document.path)
    # The day in a path is the day of the copy; the states are as old as they say.
    own = dataclasses.replace(context, path_at=None)
    run = run_of_folder(context.path)
    for index, (name, data) in enumerate((archive.pods or {}).items()):
        step = f".pods[{json.dumps(name)}]" if _POD_NAME.match(name) else f".pods[{index}]"
        yield from _pod_records(document.part(step, bytes(data)), name, own, run)
    for index, data in enumerate((archive.services or {}).values()):
        yield document.part(f".services[{index}]", bytes(data)).ignored("other_kind")


def _pod_records(item: Item, name: str, context: FileContext, run: str | None) -> Iterator[Parsed]:
    try:
        events = [
            item.part(f".events[{index}]", bytes(data))
            for index, data in enumerate(decode(_EVENTS, item.data, item.path).events or ())
        ]
        newest = _newest_event(events)
        rows = pod_rows(
            decode(POD, item.data, item.path),
            item,
            context,
            Sight(has_own_time=True),
            folder_run=run,
            also_there=newest.newest,
        )
    except RecordError as error:
        yield item.rejected(error)
        return
    yield item.accepted(rows)
    pod = rows[0][1]
    observed = Observed(pod["observed_at"], pod["observed_basis"])
    seen: Counter[str] = Counter()
    for event in events:
        yield _event_record(event, name, pod["namespace"], observed, seen)


def _newest_event(events: list[Item]) -> StatedTimes:
    """Newest time of the events that can be read; the others are refused later, one by one."""
    times = StatedTimes("")
    for item in events:
        try:
            event = decode(_EVENT, item.data, item.path)
            times.read(event.first_timestamp, "")
            times.read(event.last_timestamp, "")
        except RecordError:
            continue
    return times


def _event_record(
    item: Item, name: str, namespace: str, observed: Observed, seen: Counter[str]
) -> Parsed:
    try:
        event = decode(_EVENT, item.data, item.path)
        times = StatedTimes(item.path)
        first = times.read(event.first_timestamp, ".first_timestamp")
        last = times.read(event.last_timestamp, ".last_timestamp")
    except RecordError as error:
        return item.rejected(error)
    happened = times.newest
    if happened is None:
        # The scheduler's; the pod's condition PodScheduled still has the time.
        return item.ignored("no_time")
    same = identity(namespace, name, event.reason, event.message, event.type, first, last)
    # Two containers may give the same event in one second, as their names are lost.
    record_id = identity("archived_event", same, event.count, seen[same])
    seen[same] += 1
    values = {
        "record_id": record_id,
        "observed_at": observed.at,
        "event_at": happened,
        "event_uid": None,
        "event_name": None,
        "namespace": namespace,
        "involved_kind": "Pod",
        "involved_name": name_text(name),
        "involved_uid": None,
        "field_path": None,
        "container": None,
        "reason": free_text(event.reason),
        "message": free_text(event.message),
        "first_at": first,
        "last_at": last,
        "event_count": event.count or None,
        "event_type": name_text(event.type),
        "reporter": None,
        "node": None,
    }
    row: Row = ("kube_event_states", values)
    return item.accepted((row,))
