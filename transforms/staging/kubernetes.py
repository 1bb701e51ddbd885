"""Objects of the Kubernetes API: pods, nodes, services and events, listed or watched.

Read are lists (`PodList`, `v1 List` of mixed kinds), single objects, lines of objects, and watch
lines `{"type": …, "object": …}`. Facts and traps: the sources and versions named at each function.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.kubernetes_cluster import NODE, SERVICE, node_rows, service_rows
from transforms.staging.kubernetes_events import KUBE_EVENT, event_rows
from transforms.staging.kubernetes_pods import POD, pod_rows
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition, Row

WATCH_EVENTS = ("ADDED", "MODIFIED", "DELETED")
EVENT_GROUPS = frozenset({"v1", "events.k8s.io/v1", "events.k8s.io/v1beta1"})

_FOREIGN_GROUPS = ("audit.k8s.io/",)
"""Groups whose documents are another format, although they look like objects."""


class _Head(msgspec.Struct, rename="camel"):
    """What tells a list, a watch line and an object apart; the rest stays undecoded."""

    kind: str | None = None
    api_version: str | None = None
    type: msgspec.Raw = msgspec.Raw()
    object: msgspec.Raw = msgspec.Raw()
    items: msgspec.Raw = msgspec.Raw()


class _Failure(msgspec.Struct):
    status: str | None = None


_HEAD = msgspec.json.Decoder(_Head)
_TEXT = msgspec.json.Decoder(str)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw] | None]" = msgspec.json.Decoder(
    list[msgspec.Raw] | None
)
_FAILURE = msgspec.json.Decoder(_Failure)


def parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    """Parse raw records; a list gives one result per item."""
    for raw in records:
        for document in documents(raw):
            yield from _document(document, context)


def _document(document: Item, context: FileContext) -> Iterator[Parsed]:
    try:
        if document.data.lstrip()[:1] == b"[":
            items = decode(_ITEMS, document.data, document.path) or []
            for index, data in enumerate(items):
                yield _object(document.part(f"[{index}]", bytes(data)), context, None, None)
            return
        head = decode(_HEAD, document.data, document.path)
        if bytes(head.object) and head.kind is None:
            yield _watch_line(document, head, context)
        elif bytes(head.items) and (head.kind or "List").endswith("List"):
            yield from _list(document, head, context)
        else:
            yield _object(document, context, None, None)
    except RecordError as error:
        yield document.rejected(error)


def _list(document: Item, head: _Head, context: FileContext) -> Iterator[Parsed]:
    """One result per item; items of a typed list may leave out what the list says of them."""
    path = f"{document.path}.items"
    items = decode(_ITEMS, bytes(head.items), path) or []
    kind = (head.kind or "").removesuffix("List") or None
    for index, data in enumerate(items):
        item = document.part(f".items[{index}]", bytes(data))
        yield _object(item, context, kind, head.api_version)


def _watch_line(document: Item, head: _Head, context: FileContext) -> Parsed:
    change = decode(_TEXT, bytes(head.type) or b"null", f"{document.path}.type")
    if change == "BOOKMARK":
        return document.ignored("bookmark")
    if change == "ERROR":
        return document.ignored("watch_error")
    if change not in WATCH_EVENTS:
        known = ", ".join(WATCH_EVENTS)
        message = f"wrong_watch_event: expected {known}, got another word at {document.path}.type"
        return document.rejected(message)
    inner = Item(document.locator, f"{document.path}.object", document.offset, bytes(head.object))
    return _object(inner, context, None, None, watch_event=change)


def _object(
    item: Item,
    context: FileContext,
    kind: str | None,
    api_version: str | None,
    *,
    watch_event: str | None = None,
) -> Parsed:
    """One object; kind and API version are the list's where the item leaves them out."""
    try:
        head = decode(_HEAD, item.data, item.path)
        kind, group = head.kind or kind, head.api_version or api_version or "v1"
        if kind is None:
            return item.rejected(f"no_kind: expected {item.path}.kind, got none")
        if kind == "Status" and group == "v1":
            return item.rejected(_failure(item))
        read = _reader(kind, group)
        if read is None:
            return item.ignored("other_kind")
        return item.accepted(read(item, context, watch_event))
    except RecordError as error:
        return item.rejected(error)


def _failure(item: Item) -> str:
    """An export that holds the API's refusal holds no state."""
    status = decode(_FAILURE, item.data, item.path).status
    return f"no_objects: expected objects, got a Status {'Failure' if status == 'Failure' else ''}"


_Read = Callable[[Item, FileContext, str | None], tuple[Row, ...]]


def _reader(kind: str, group: str) -> _Read | None:
    """How a kind is read; null for one that is not used.

    `Service` of another group, such as Polyaxon's own, is another kind.
    """
    if kind == "Event":
        return _read_event if group in EVENT_GROUPS else None
    return (
        {"Pod": _read_pod, "Node": _read_node, "Service": _read_service}.get(kind)
        if (group == "v1")
        else None
    )


def _read_pod(item: Item, context: FileContext, watch: str | None) -> tuple[Row, ...]:
    pod = decode(POD, item.data, item.path)
    return pod_rows(pod, item, context, watch_event=watch, has_own_time=watch is not None)


def _read_event(item: Item, context: FileContext, watch: str | None) -> tuple[Row, ...]:
    event = decode(KUBE_EVENT, item.data, item.path)
    return event_rows(event, item, context, watch_event=watch, has_own_time=watch is not None)


def _read_node(item: Item, context: FileContext, watch: str | None) -> tuple[Row, ...]:
    node = decode(NODE, item.data, item.path)
    return node_rows(node, item, context, watch_event=watch, has_own_time=watch is not None)


def _read_service(item: Item, context: FileContext, watch: str | None) -> tuple[Row, ...]:
    service = decode(SERVICE, item.data, item.path)
    return service_rows(service, item, context, watch_event=watch, has_own_time=watch is not None)


# -- recognition ---------------------------------------------------------------------------------


def recognise(head: bytes) -> Recognition:
    """Judge a head: an object has apiVersion and kind, a watch line has type and object."""
    value = first_value(head)
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return Recognition(0)
    inner = value.get("object")
    if "kind" not in value and isinstance(inner, dict) and _is_watch(value.get("type")):
        if _is_object(inner) or value["type"] in {"BOOKMARK", "ERROR"}:
            return Recognition(3, "watch events")
        return Recognition(0)
    items = value.get("items")
    if isinstance(items, list):
        return _recognise_list(value, items)
    if _is_object(value):
        return Recognition(3, f"{_word(value['kind'])} objects")
    return Recognition(0)


def _recognise_list(value: dict[str, Any], items: list[Any]) -> Recognition:
    kind = value.get("kind")
    if isinstance(kind, str) and kind.endswith("List") and _is_group(value.get("apiVersion")):
        return Recognition(3, _word(kind))
    first = items[0] if items else None
    if kind is None and isinstance(first, dict) and _is_object(first):
        # kubectl writes the kind of a list behind its items.
        return Recognition(3, "List")
    is_bare = isinstance(first, dict) and isinstance(first.get("metadata"), dict)
    if kind is None and is_bare and _is_group(value.get("apiVersion")):
        return Recognition(2, "List")
    return Recognition(0)


def _is_watch(change: object) -> bool:
    return isinstance(change, str) and change in {*WATCH_EVENTS, "BOOKMARK", "ERROR"}


def _is_object(value: dict[str, Any]) -> bool:
    return (
        isinstance(value.get("kind"), str)
        and _is_group(value.get("apiVersion"))
        and isinstance(value.get("metadata", {}), dict)
    )


def _is_group(version: object) -> bool:
    return isinstance(version, str) and not version.startswith(_FOREIGN_GROUPS)


def _word(text: object) -> str:
    return text if isinstance(text, str) and text.isalnum() and len(text) <= 63 else "List"


PARSER = Parser(
    name="kubernetes",
    title="Kubernetes objects (lists, lines, watches)",
    tables=("pod_states", "container_states", "node_states", "kube_event_states", "services"),
    shape="json",
    record="One object: an item of a list, a single object, or the object of one watch line.",
    cannot_tell=(
        "Traffic; pods that came and went between two listings; container ends before the last "
        "restart; whether an event was dropped by the API's own limits."
    ),
    recognise=recognise,
    parse=parse,
    reads_path=True,
    optional_columns=(
        "pod_states.sandbox_ready_at", "pod_states.host_addresses", "pod_states.watch_event",
        "kube_event_states.field_path", "container_states.image_digest",
    ),
    tested_on="real",
)  # fmt: skip
