"""Polyaxon's API answers, archives and custom resources.

Lists, details and statuses of runs, lineage, events; what the command line prints with `-o json`;
the files of an offline run and of a run's folder in the artifact store. Each is told by its
content; the run is that of the content, else that of the folder. Shapes: Polyaxon CE 2.18 (API
serializers), its SDK, command line, traceml and operator.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.kubernetes_metadata import Sight
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.polyaxon_archive import archive_records
from transforms.staging.polyaxon_artifacts import (
    EVENT_HEADER,
    EVENT_KINDS,
    artifact_rows,
    event_line,
    events_answer,
    json_event,
)
from transforms.staging.polyaxon_resources import is_operation, operation_rows
from transforms.staging.polyaxon_runs import CONDITION, RUN, condition_rows, run_rows
from transforms.staging.polyaxon_values import run_uuid_of
from transforms.staging.run_identity import run_of_folder
from transforms.staging.values import hex_uuid

RUN_KEYS = frozenset({"status", "runtime", "is_managed", "managed_by", "live_state"})
"""Keys that only a run has beside its uuid."""
DETAIL_KEYS = frozenset({"owner", "project", "content", "raw_content"})
"""Keys that a list leaves out."""
ARTIFACT_KEYS = frozenset({"is_input", "summary"})
EDGE_KEYS = frozenset({"upstream", "downstream"})
"""Keys of an edge between two runs, whose own rows state what they were cloned from."""
LOG_KEYS = frozenset({"timestamp", "node", "pod", "container", "value"})
EVENT_KEYS = frozenset({"timestamp", "step"})
WATCH_KEYS = frozenset({"type", "object"})

_Keys = dict[str, msgspec.Raw]
_KEYS: "msgspec.json.Decoder[_Keys]" = msgspec.json.Decoder(_Keys)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT: "msgspec.json.Decoder[str | None]" = msgspec.json.Decoder(str | None)


class _ObjectHead(msgspec.Struct, rename="camel"):
    """What tells an object of Kubernetes."""

    kind: str | None = None
    api_version: str | None = None


_OBJECT_HEAD = msgspec.json.Decoder(_ObjectHead)


def parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    """Parse raw records; a list gives one result per run, statuses one per condition."""
    for raw in records:
        for document in documents(raw):
            yield from _document(document, context)


def _document(document: Item, context: FileContext) -> Iterator[Parsed]:
    beginning = document.data.lstrip()[:1]
    if beginning not in {b"{", b"["} and b"|" in document.data[:128]:
        yield event_line(document, context)
        return
    try:
        if beginning == b"[":
            yield from _page(document, document.data, "", context)
        else:
            keys = decode(_KEYS, document.data, document.path)
            parts = iter(_answer(document, keys, context))
            first = next(parts, None)
            # A list may hold nothing; another answer that does is a record by itself.
            if first is not None:
                yield first
            elif not keys.keys() & {"results", "items"}:
                yield document.ignored("empty")
            yield from parts
    except RecordError as error:
        yield document.rejected(error)


def _answer(document: Item, keys: _Keys, context: FileContext) -> Iterator[Parsed]:
    """An object at the top of a document or of a line."""
    if "results" in keys:
        yield from _page(document, bytes(keys["results"]), ".results", context)
    elif "apiVersion" in keys and "items" in keys:
        yield from _page(document, bytes(keys["items"]), ".items", context)
    elif "pods" in keys and "uuid" not in keys:
        yield from archive_records(document, context)
    elif "status_conditions" in keys:
        yield from _statuses(document, keys, context)
    elif "data" in keys and "uuid" not in keys:
        yield from events_answer(document, bytes(keys["data"]), context)
    elif (kind := _event_kind(keys)) is not None:
        yield json_event(document, kind, context)
    else:
        view = "detail" if keys.keys() & DETAIL_KEYS else "list"
        yield _record(document, keys, context, view)


def _page(document: Item, data: bytes, step: str, context: FileContext) -> Iterator[Parsed]:
    """One result per entry of a list."""
    entries: list[msgspec.Raw] = decode(_ITEMS, data, f"{document.path}{step}")
    for index, entry in enumerate(entries):
        item = document.part(f"{step}[{index}]", bytes(entry))
        try:
            keys = decode(_KEYS, item.data, item.path)
        except RecordError as error:
            yield item.rejected(error)
        else:
            yield _record(item, keys, context, "list")


def _record(item: Item, keys: _Keys, context: FileContext, view: str) -> Parsed:
    """A run, an artifact, a custom resource, or what another answer holds in their place."""
    try:
        if "apiVersion" in keys or keys.keys() >= WATCH_KEYS:
            return _object(item, keys, context)
        if "uuid" not in keys and keys.keys() & ARTIFACT_KEYS:
            return item.accepted(artifact_rows(item, context))
        reason = _other_answer(keys)
        if reason is not None:
            return item.ignored(reason)
        return item.accepted(run_rows(decode(RUN, item.data, item.path), item, context, view))
    except RecordError as error:
        return item.rejected(error)


def _object(item: Item, keys: _Keys, context: FileContext) -> Parsed:
    """An object of Kubernetes, or the one of a watch line; only runs' resources are read here."""
    sight = Sight()
    if "apiVersion" not in keys:
        sight = Sight(decode(_TEXT, bytes(keys["type"]), f"{item.path}.type"), has_own_time=True)
        item = Item(item.locator, f"{item.path}.object", item.offset, bytes(keys["object"]))
    head = decode(_OBJECT_HEAD, item.data, item.path)
    if not is_operation(head.kind, head.api_version) or sight.watch_event == "BOOKMARK":
        return item.ignored("other_kind")
    found = operation_rows(item, context, sight)
    return item.ignored(found) if isinstance(found, str) else item.accepted(found)


def _event_kind(keys: _Keys) -> str | None:
    """Kind of the one event that a line of an event file holds; null where it is none."""
    kinds = keys.keys() & EVENT_KINDS
    return min(kinds) if kinds and keys.keys() >= EVENT_KEYS and "uuid" not in keys else None


def _other_answer(keys: _Keys) -> str | None:
    """Answers that name no run of their own, or no time at which it was as they say."""
    if "uuid" in keys:
        if not keys.keys() & RUN_KEYS:
            return "other_kind"
        is_clone = "cloning_kind" in keys and "created_at" not in keys
        return "lineage" if is_clone else None
    if keys.keys() & EDGE_KEYS:
        return "lineage"
    if keys.keys() >= LOG_KEYS or "logs" in keys:
        return "log"
    if keys.keys() == {"namespace"}:
        return "namespace"
    if {"version", "kind"} <= keys.keys():
        return "content"
    return None


def _statuses(document: Item, keys: _Keys, context: FileContext) -> Iterator[Parsed]:
    """One result per condition; an offline run states itself in the same document first."""
    text = decode(_TEXT, bytes(keys.get("uuid", b"null")), f"{document.path}.uuid")
    run_uuid = run_uuid_of(text or run_of_folder(context.path), f"{document.path}.uuid")
    step = ".status_conditions"
    data = bytes(keys["status_conditions"])
    entries: list[msgspec.Raw] = []
    if data != b"null":
        entries = decode(_ITEMS, data, f"{document.path}{step}")
    if "created_at" in keys:
        yield _record(_without(document, keys, "status_conditions"), keys, context, "archive")
    for ordinal, entry in enumerate(entries):
        item = document.part(f"{step}[{ordinal}]", bytes(entry))
        try:
            condition = decode(CONDITION, item.data, item.path)
            if condition.status in {False, "False", "false"}:
                yield item.ignored("not_reached")
            else:
                yield item.accepted(condition_rows(condition, item, run_uuid, ordinal))
        except RecordError as error:
            yield item.rejected(error)


def _without(item: Item, keys: _Keys, left_out: str) -> Item:
    """An object without the value of a key, whose parts are records of their own."""
    parts = (
        msgspec.json.encode(key) + b":" + bytes(value)
        for key, value in keys.items()
        if key != left_out
    )
    return item._replace(data=b"{" + b",".join(parts) + b"}")


# -- recognition ---------------------------------------------------------------------------------


def recognise(head: bytes) -> Recognition:
    """Judge a head by the keys that only Polyaxon's answers have together."""
    if head.lstrip().startswith(EVENT_HEADER):
        return Recognition(2, "event file")
    value = first_value(head)
    if isinstance(value, list):
        return _recognise_entries(value, "list")
    if not isinstance(value, dict):
        return Recognition(0)
    results = value.get("results")
    if isinstance(results, list) and ("count" in value or "next" in value):
        is_page = {"count", "next", "previous", "results"} == value.keys()
        empty = Recognition(int(is_page), "an empty page of a list")
        return _recognise_entries(results, "run list") if results else empty
    if isinstance(value.get("pods"), dict) and _is_archive(value):
        return Recognition(3, "spec.json archive")
    if _is_uuid(value) and isinstance(value.get("status_conditions"), list):
        return Recognition(3, "run statuses")
    if _is_run(value):
        return Recognition(3, "run")
    return _recognise_other(value)


def _recognise_other(value: dict[str, Any]) -> Recognition:
    """Judge an object that is no run."""
    if value.get("kind") in ("compiled_operation", "operation") and "version" in value:
        return Recognition(2, "content of a run")
    if "apiVersion" in value or value.keys() >= WATCH_KEYS:
        # Lists of them may hold pods too, which the objects of Kubernetes are read with.
        return Recognition(2, "custom resources") if _is_resource(value) else Recognition(0)
    if _is_artifact(value) or _is_edge(value):
        return Recognition(2, "lineage")
    if "data" in value and _is_events(value["data"]):
        return Recognition(2, "events")
    if len(value) == 3 and value.keys() >= EVENT_KEYS and value.keys() & EVENT_KINDS:
        return Recognition(2, "event file")
    if value.keys() == LOG_KEYS or _is_logs(value.get("logs")):
        return Recognition(2, "log of a run")
    return Recognition(0)


def _recognise_entries(entries: list[Any], variant: str) -> Recognition:
    first = entries[0] if entries else None
    if not isinstance(first, dict):
        return Recognition(0)
    if _is_run(first):
        return Recognition(3, variant)
    if _is_artifact(first) or _is_edge(first):
        return Recognition(2, "lineage")
    if _is_resource(first):
        return Recognition(2, "custom resources")
    return Recognition(0)


def _is_artifact(value: dict[str, Any]) -> bool:
    return {"name", "kind", "is_input"} <= value.keys()


def _is_edge(value: dict[str, Any]) -> bool:
    return bool(EDGE_KEYS & value.keys()) and "kind" in value


def _is_events(data: object) -> bool:
    """Whether events of one run, or of several by their uuid, are listed."""
    if isinstance(data, dict):
        key, data = next(iter(data.items()), ("", None))
        if hex_uuid(key) is None:
            return False
    first = data[0] if isinstance(data, list) and data else None
    return isinstance(first, dict) and {"name", "kind", "data"} <= first.keys()


def _is_logs(logs: object) -> bool:
    """Whether lines of a run's log are listed, as an answer or an old log file holds them."""
    first = logs[0] if isinstance(logs, list) and logs else None
    return isinstance(first, dict) and {"timestamp", "value"} <= first.keys() <= LOG_KEYS


def _is_resource(value: dict[str, Any]) -> bool:
    """Whether an object, the first of a list or the object of a watch line is a run's resource."""
    if "apiVersion" not in value and value.keys() >= WATCH_KEYS:
        inner = value["object"]
    else:
        items = value.get("items")
        inner = items[0] if isinstance(items, list) and items else value
    if not isinstance(inner, dict):
        return False
    kind, group = inner.get("kind"), inner.get("apiVersion", value.get("apiVersion"))
    if kind is None and isinstance(value.get("kind"), str):
        kind = value["kind"].removesuffix("List")
    return isinstance(kind, str) and isinstance(group, str) and is_operation(kind, group)


def _is_uuid(value: dict[str, Any]) -> bool:
    return isinstance(value.get("uuid"), str) and hex_uuid(value["uuid"]) is not None


def _is_run(value: dict[str, Any]) -> bool:
    # The beginning of a long document may hold the first keys only.
    return _is_uuid(value) and (
        len(value.keys() & {*RUN_KEYS, "created_at", "kind", "pipeline", "original"}) >= 2
        or {"content", "created_at"} <= value.keys()
    )


def _is_archive(value: dict[str, Any]) -> bool:
    if "apiVersion" in value or not value.keys() <= {"pods", "services"}:
        return False
    pods = list(value["pods"].values())
    if not pods:
        return "services" in value
    return isinstance(pods[0], dict) and isinstance(pods[0].get("metadata"), dict)


PARSER = Parser(
    name="polyaxon",
    title="Polyaxon runs (API lists, details, statuses, lineage and events; command line; offline "
    "runs; custom resources; spec.json archives)",
    tables=(
        "run_versions", "run_statuses", "run_artifacts", "pod_states", "container_states",
        "kube_event_states",
    ),
    shape="json",
    record=(
        "One run of a list, one run detail, one condition of a statuses answer, one artifact of a "
        "lineage or of an events answer, one line of an event file, one custom resource; of a "
        "spec.json one pod and each of its events."
    ),
    cannot_tell=(
        "When the main container started; what an earlier attempt of a resumed run did; which "
        "condition was replaced by a repeated one; the namespace of the pods, in lists; which "
        "container an archived event is about; of a custom resource, how long its run was queued "
        "before; where below the store a relative path lies; values of events and logs, which are "
        "not kept."
    ),
    recognise=recognise,
    parse=parse,
    reads_path=True,
    version=3,
    optional_columns=(
        "run_versions.project", "run_versions.run_owner", "run_versions.images",
        "run_versions.code_revision", "run_versions.declared_accesses", "run_artifacts.resource_id",
        "run_artifacts.event_count",
    ),
    tested_on="real",
)  # fmt: skip
