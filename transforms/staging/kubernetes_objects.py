"""Rows of any Kubernetes object that is read, whichever export it comes from.

Lists and watches, audited requests and the collector's logs all hold the same objects; what differs
is how they were seen.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import msgspec

from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.kubernetes_claims import (
    CLAIM,
    CLAIM_GROUPS,
    RESOURCE_CLAIM,
    TEMPLATE,
    claim_rows,
)
from transforms.staging.kubernetes_cluster import (
    NAMESPACE,
    NODE,
    SERVICE,
    namespace_rows,
    node_rows,
    service_rows,
)
from transforms.staging.kubernetes_events import KUBE_EVENT, event_rows
from transforms.staging.kubernetes_metadata import LISTED, Sight
from transforms.staging.kubernetes_pods import POD, pod_rows
from transforms.staging.kubernetes_policies import POLICY, POLICY_GROUPS, policy_rows
from transforms.staging.parser import FileContext, Parsed, Row
from transforms.staging.polyaxon_resources import is_operation, operation_rows

TABLES = (
    "pod_states", "container_states", "node_states", "kube_event_states", "services", "namespaces",
    "network_policies", "resource_claims",
)  # fmt: skip
"""Tables that objects fill."""

WATCH_EVENTS = ("ADDED", "MODIFIED", "DELETED")
EVENT_GROUPS = frozenset({"v1", "events.k8s.io/v1", "events.k8s.io/v1beta1"})

_T = TypeVar("_T")
Read = Callable[[Item, FileContext, Sight], tuple[Row, ...]]


class Head(msgspec.Struct, rename="camel"):
    """What tells a list, a watch line and an object apart; the rest stays undecoded."""

    kind: str | None = None
    api_version: str | None = None
    type: msgspec.Raw = msgspec.Raw()
    object: msgspec.Raw = msgspec.Raw()
    items: msgspec.Raw = msgspec.Raw()


class _Failure(msgspec.Struct):
    status: str | None = None


HEAD = msgspec.json.Decoder(Head)
_TEXT = msgspec.json.Decoder(str)
_FAILURE = msgspec.json.Decoder(_Failure)


def object_record(
    item: Item,
    context: FileContext,
    kind: str | None = None,
    api_version: str | None = None,
    sight: Sight = LISTED,
) -> Parsed:
    """Read one object as a record.

    Args:
        item: The object.
        context: The file.
        kind: Its kind where it states none, as items of a typed list do.
        api_version: Its API version where it states none.
        sight: How it was seen.
    """
    try:
        head = decode(HEAD, item.data, item.path)
        kind, group = head.kind or kind, head.api_version or api_version or "v1"
        if kind is None:
            return item.rejected(f"no_kind: expected {item.path}.kind, got none")
        if kind == "Status" and group == "v1":
            return item.rejected(_failure(item))
        if is_operation(kind, group):
            found = operation_rows(item, context, sight)
            return item.ignored(found) if isinstance(found, str) else item.accepted(found)
        read = reader(kind, group)
        if read is None:
            return item.ignored("other_kind")
        return item.accepted(read(item, context, sight))
    except RecordError as error:
        return item.rejected(error)


def change_record(item: Item, head: Head, context: FileContext, sight: Sight) -> Parsed:
    """Read the change `{"type": …, "object": …}` of a watch as a record.

    Raises:
        RecordError: The type is no text.
    """
    change = decode(_TEXT, bytes(head.type) or b"null", f"{item.path}.type")
    if change == "BOOKMARK":
        return item.ignored("bookmark")
    if change == "ERROR":
        return item.ignored("watch_error")
    if change not in WATCH_EVENTS:
        known = ", ".join(WATCH_EVENTS)
        message = f"wrong_watch_event: expected {known}, got another word at {item.path}.type"
        return item.rejected(message)
    inner = Item(item.locator, f"{item.path}.object", item.offset, bytes(head.object))
    seen = sight._replace(watch_event=change, has_own_time=True)
    return object_record(inner, context, sight=seen)


def _failure(item: Item) -> str:
    """An export that holds the API's refusal holds no state."""
    status = decode(_FAILURE, item.data, item.path).status
    return f"no_objects: expected objects, got a Status {'Failure' if status == 'Failure' else ''}"


def reader(kind: str, group: str) -> Read | None:
    """How a kind is read; null for one that is not used.

    `Service` of another group is another kind; Polyaxon's own is read before, as a run.

    Args:
        kind: Kind of the object.
        group: Its API version with the group, such as `networking.k8s.io/v1`.
    """
    if kind == "Event":
        return _EVENT if group in EVENT_GROUPS else None
    if kind in POLICY_GROUPS:
        return _policy_reader(kind, group) if group.startswith(POLICY_GROUPS[kind]) else None
    if kind in {CLAIM, TEMPLATE}:
        return _claim_reader(kind) if group in CLAIM_GROUPS else None
    return _CORE.get(kind) if group == "v1" else None


def _read(
    decoder: "msgspec.json.Decoder[_T]",
    rows: Callable[[_T, Item, FileContext, Sight], tuple[Row, ...]],
) -> Read:
    def read(item: Item, context: FileContext, sight: Sight) -> tuple[Row, ...]:
        return rows(decode(decoder, item.data, item.path), item, context, sight)

    return read


def _policy_reader(kind: str, group: str) -> Read:
    return _read(POLICY, partial(policy_rows, kind=kind, api_version=group))


def _claim_reader(kind: str) -> Read:
    return _read(RESOURCE_CLAIM, partial(claim_rows, kind=kind))


_EVENT = _read(KUBE_EVENT, event_rows)
_CORE: dict[str, Read] = {
    "Pod": _read(POD, pod_rows),
    "Node": _read(NODE, node_rows),
    "Service": _read(SERVICE, service_rows),
    "Namespace": _read(NAMESPACE, namespace_rows),
}
