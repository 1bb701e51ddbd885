"""Objects of the Kubernetes API, listed or watched.

Kinds: pods, nodes, services, events, namespaces, network policies of Kubernetes and of Cilium,
resource claims and their templates, and the custom resources of Polyaxon's runs, as one list may
hold them beside their pods.
Read are lists (`PodList`, `v1 List` of mixed kinds), single objects, lines of objects, and watch
lines `{"type": …, "object": …}`, also as documents behind each other (`kubectl get --watch`). YAML
is not read: it is refused once, with the option that writes JSON instead. Facts and traps: the
sources and versions named at each function.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_records import SHOWN_KEYS, Item, RecordError, decode, documents
from transforms.staging.kubernetes_metadata import LISTED
from transforms.staging.kubernetes_objects import (
    HEAD,
    TABLES,
    WATCH_EVENTS,
    Head,
    change_record,
    object_record,
)
from transforms.staging.parser import (
    FileContext,
    Parsed,
    Parser,
    RawRecord,
    Recognition,
    ignored,
    rejected,
)

_FOREIGN_GROUPS = ("audit.k8s.io/",)
"""Groups whose documents are another format, although they look like objects."""

_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw] | None]" = msgspec.json.Decoder(
    list[msgspec.Raw] | None
)
_YAML = re.compile(rb"(?:\xef\xbb\xbf)?(?:#|%YAML|---|(?:- )?(?:apiVersion|kind|items|metadata):)")
_YAML_OBJECT = re.compile(rb"^(?:- |  )?(apiVersion|kind): [^\s{\[]+[ \r]*$", re.MULTILINE)
_SECRET_KIND = re.compile(rb'"kind"\s*:\s*"(?:Secret|ConfigMap)')


def parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    """Parse raw records; a list gives one result per item."""
    rest = iter(records)
    first = next(rest, None)
    if first is None:
        return
    is_yaml = _YAML.match(first.data) is not None
    if is_yaml:
        yield rejected(first, "yaml: expected JSON, as `kubectl get -o json` writes it, got YAML")
    for raw in rest if is_yaml else chain((first,), rest):
        # A comment may stand before lines of JSON.
        if is_yaml and raw.data.lstrip()[:1] not in {b"{", b"["}:
            yield ignored(raw, "yaml")
            continue
        for document in documents(raw):
            yield from _document(document, context)


def _document(document: Item, context: FileContext) -> Iterator[Parsed]:
    try:
        if document.data.lstrip()[:1] == b"[":
            items = decode(_ITEMS, document.data, document.path) or []
            for index, data in enumerate(items):
                yield object_record(document.part(f"[{index}]", bytes(data)), context)
            return
        head = decode(HEAD, document.data, document.path)
        if bytes(head.object) and head.kind is None:
            yield change_record(document, head, context, LISTED)
        elif bytes(head.items) and (head.kind or "List").endswith("List"):
            yield from _list(document, head, context)
        else:
            yield object_record(document, context)
    except RecordError as error:
        # Data of a Secret may stand under any key, also one that is shown of other objects.
        holds_secrets = _SECRET_KIND.search(document.data) is not None
        yield document.rejected(error, frozenset() if holds_secrets else SHOWN_KEYS)


def _list(document: Item, head: Head, context: FileContext) -> Iterator[Parsed]:
    """One result per item; items of a typed list may leave out what the list says of them."""
    path = f"{document.path}.items"
    items = decode(_ITEMS, bytes(head.items), path) or []
    kind = (head.kind or "").removesuffix("List") or None
    for index, data in enumerate(items):
        item = document.part(f".items[{index}]", bytes(data))
        yield object_record(item, context, kind, head.api_version)


# -- recognition ---------------------------------------------------------------------------------


def recognise(head: bytes) -> Recognition:
    """Judge a head: an object has apiVersion and kind, a watch line has type and object."""
    if _YAML.match(head.lstrip()):
        found = set(_YAML_OBJECT.findall(head))
        is_yaml = found == {b"apiVersion", b"kind"}
        return (
            Recognition(2, "YAML, which is not read: export it with -o json")
            if is_yaml
            else (Recognition(0))
        )
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
    title="Kubernetes objects (lists, lines, watches), and Polyaxon's custom resources among them",
    tables=(*TABLES, "run_versions", "run_statuses"),
    shape="json",
    record="One object: an item of a list, a single object, or the object of one watch line.",
    cannot_tell=(
        "Traffic; pods that came and went between two listings; container ends before the last "
        "restart; whether an event was dropped by the API's own limits."
    ),
    recognise=recognise,
    parse=parse,
    reads_path=True,
    version=3,
    optional_columns=(
        "pod_states.sandbox_ready_at", "pod_states.host_addresses", "pod_states.watch_event",
        "kube_event_states.field_path", "container_states.image_digest",
    ),
    tested_on="real",
)  # fmt: skip
