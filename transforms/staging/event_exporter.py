"""Kubernetes events as exporters write them: kubernetes-event-exporter and eventrouter.

Sources: kubernetes-event-exporter (opsgenie, then resmoio), pkg/kube/event.go: an `EnhancedEvent`
is a core event with labels, annotations and owners of the object it is about, without kind and API
version; eventrouter (heptiolabs), sinks/interfaces.go: `{"verb", "event", "old_event"}`.

An exporter writes an event when it sees it, so that the newest time that the event states is when
it was observed; the path of the file says nothing. kubernetes-event-exporter writes an event once
and never its repetitions: a missing repetition did not fail to happen. eventrouter writes each
change with the state before it, which was written before and is not read again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_items import parse_items
from transforms.staging.json_records import SHOWN_KEYS, Item, RecordError, decode
from transforms.staging.kubernetes_events import KUBE_EVENT, event_rows
from transforms.staging.kubernetes_metadata import Sight
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row

_VERBS = {"ADDED": "ADDED", "UPDATED": "MODIFIED"}


class _Head(msgspec.Struct):
    """What tells the two shapes apart; the rest stays undecoded."""

    verb: str | None = None
    event: msgspec.Raw = msgspec.Raw()


_HEAD = msgspec.json.Decoder(_Head)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    return parse_items(records, replace(context, path_at=None), _read, SHOWN_KEYS)


def _read(item: Item, context: FileContext) -> tuple[Row, ...]:
    head = decode(_HEAD, item.data, item.path)
    change = None
    if bytes(head.event):
        change = _VERBS.get(head.verb or "")
        if change is None:
            known = ", ".join(_VERBS)
            message = f"wrong_verb: expected {known}, got another word at {item.path}.verb"
            raise RecordError(message)
        item = Item(item.locator, f"{item.path}.event", item.offset, bytes(head.event))
    event = decode(KUBE_EVENT, item.data, item.path)
    if event.involved_object is None and event.regarding is None:
        message = f"no_involved_object: expected {item.path}.involvedObject, got none"
        raise RecordError(message)
    return event_rows(event, item, context, Sight(change, has_own_time=True))


def _recognise(head: bytes) -> Recognition:
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return Recognition(0)
    inner = value.get("event")
    if str(value.get("verb")) in _VERBS and isinstance(inner, dict):
        is_routed = bool({"involvedObject", "metadata"} & inner.keys())
        return Recognition(3, "eventrouter lines") if is_routed else Recognition(0)
    is_event = isinstance(value.get("involvedObject"), dict) and "kind" not in value
    if is_event and isinstance(value.get("metadata"), dict):
        return Recognition(3, "kubernetes-event-exporter lines")
    # Exporters write the metadata first, and the object last.
    is_begun = isinstance(value.get("metadata"), dict) and {"reason", "message"} <= value.keys()
    is_begun = is_begun and not {"kind", "apiVersion"} & value.keys()
    return Recognition(2, "kubernetes-event-exporter lines") if is_begun else Recognition(0)


PARSER = Parser(
    name="event_exporter",
    title="Kubernetes events of kubernetes-event-exporter and eventrouter",
    tables=("kube_event_states",),
    shape="json",
    record="One line: one event as it was seen.",
    cannot_tell=(
        "Repetitions of an event, which kubernetes-event-exporter leaves out, and events older "
        "than its limit; events that were renamed by a custom layout."
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
    optional_columns=("kube_event_states.field_path", "kube_event_states.node"),
)
