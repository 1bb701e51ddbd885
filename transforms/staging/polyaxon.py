"""Polyaxon's API answers and archives: lists, details and statuses of runs, `outputs/spec.json`.

Also read are what the command line prints with `-o json` and the `run.plx.json` of an offline run.
Shapes: Polyaxon CE 2.18 (API serializers), its SDK and command line.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from transforms.staging.json_heads import first_value
from transforms.staging.json_records import Item, RecordError, decode, documents
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.polyaxon_archive import archive_records
from transforms.staging.polyaxon_runs import (
    CONDITION,
    RUN,
    condition_rows,
    run_rows,
    run_uuid_of,
)
from transforms.staging.run_identity import run_of_folder
from transforms.staging.values import hex_uuid

RUN_KEYS = frozenset({"status", "runtime", "is_managed", "managed_by", "live_state"})
"""Keys that only a run has beside its uuid."""
DETAIL_KEYS = frozenset({"owner", "project", "content", "raw_content"})
"""Keys that a list leaves out."""
LINEAGE_KEYS = frozenset({"is_input", "summary", "upstream", "downstream"})

_Keys = dict[str, msgspec.Raw]
_KEYS: "msgspec.json.Decoder[_Keys]" = msgspec.json.Decoder(_Keys)
_ITEMS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT: "msgspec.json.Decoder[str | None]" = msgspec.json.Decoder(str | None)


def parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    """Parse raw records; a list gives one result per run, statuses one per condition."""
    for raw in records:
        for document in documents(raw):
            yield from _document(document, context)


def _document(document: Item, context: FileContext) -> Iterator[Parsed]:
    try:
        if document.data.lstrip()[:1] == b"[":
            yield from _page(document, document.data, "", context)
            return
        keys = decode(_KEYS, document.data, document.path)
        if "results" in keys:
            yield from _page(document, bytes(keys["results"]), ".results", context)
        elif "pods" in keys and "uuid" not in keys:
            yield from archive_records(document, context)
        elif "status_conditions" in keys:
            yield from _statuses(document, keys, context)
        else:
            view = "detail" if keys.keys() & DETAIL_KEYS else "list"
            yield _run(document, keys, context, view)
    except RecordError as error:
        yield document.rejected(error)


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
            yield _run(item, keys, context, "list")


def _run(item: Item, keys: _Keys, context: FileContext, view: str) -> Parsed:
    """A run, or what another answer of the API holds in its place."""
    if "uuid" not in keys:
        reason = _other_answer(keys)
        if reason is not None:
            return item.ignored(reason)
    elif not keys.keys() & RUN_KEYS:
        return item.ignored("other_kind")
    try:
        return item.accepted(run_rows(decode(RUN, item.data, item.path), item, context, view))
    except RecordError as error:
        return item.rejected(error)


def _other_answer(keys: _Keys) -> str | None:
    """Answers that name no run of their own."""
    if keys.keys() & LINEAGE_KEYS:
        return "lineage"
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
        yield _run(document, keys, context, "archive")
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


# -- recognition ---------------------------------------------------------------------------------


def recognise(head: bytes) -> Recognition:
    """Judge a head by the keys that only Polyaxon's answers have together."""
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
    if value.get("kind") in ("compiled_operation", "operation") and "version" in value:
        return Recognition(2, "content of a run")
    return Recognition(0)


def _recognise_entries(entries: list[Any], variant: str) -> Recognition:
    first = entries[0] if entries else None
    if not isinstance(first, dict):
        return Recognition(0)
    if _is_run(first):
        return Recognition(3, variant)
    if {"name", "kind", "is_input"} <= first.keys() or (
        {"upstream", "downstream"} & first.keys() and "kind" in first
    ):
        return Recognition(2, "lineage")
    return Recognition(0)


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
    title="Polyaxon runs (API lists, details, statuses; spec.json archives)",
    tables=(
        "run_versions", "run_statuses", "pod_states", "container_states", "kube_event_states",
    ),
    shape="json",
    record=(
        "One run of a list, one run detail, one condition of a statuses answer; of a spec.json one "
        "pod and each of its events."
    ),
    cannot_tell=(
        "When the main container started; what an earlier attempt of a resumed run did; which "
        "condition was replaced by a repeated one; the namespace of the pods, in lists; which "
        "container an archived event is about."
    ),
    recognise=recognise,
    parse=parse,
    reads_path=True,
    optional_columns=(
        "run_versions.project", "run_versions.run_owner", "run_versions.images",
        "run_versions.code_revision", "run_versions.declared_accesses",
    ),
    tested_on="real",
)  # fmt: skip
